"""Ops that order and route: barriers, TF 1's switches and merges, Python functions as nodes."""
