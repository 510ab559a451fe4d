"""Records as tensors: examples, CSV, raw bytes, tensors as messages, files."""
