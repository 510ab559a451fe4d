"""Reductions along axes or by segments, running sums, counts."""
