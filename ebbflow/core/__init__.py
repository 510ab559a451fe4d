"""Values and vocabulary: dtypes, shapes, errors, nested structures, device names, and what ops are declared with.

The ground floor. It knows NumPy and nothing of ops at work, graphs or engines; every other room may import it.
"""
