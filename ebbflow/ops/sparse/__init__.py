"""Sparse tensors: their layout, arithmetic and reductions."""
