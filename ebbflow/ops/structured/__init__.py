"""Structured tensors: trees of tensors that share their outer axes."""
