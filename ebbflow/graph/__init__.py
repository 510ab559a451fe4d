"""Graphs: nodes, names, scopes, collections, and gradients over them."""
