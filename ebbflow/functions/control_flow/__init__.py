"""Choices and loops as nodes with bodies, their gradients, and the public functions that build them."""
