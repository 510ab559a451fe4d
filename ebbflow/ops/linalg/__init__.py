"""Matrices: products, contractions, solvers, factorisations, diagonals, norms."""
