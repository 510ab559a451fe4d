"""Ragged tensors: the class, its rows and indices, and what other ops give for it."""
