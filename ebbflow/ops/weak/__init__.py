"""Weak tensors: values whose dtype gives way, and the modes in which dtypes are promoted."""
