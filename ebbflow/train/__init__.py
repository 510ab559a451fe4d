"""Training: optimizers, learning-rate decay, moving averages, the global step."""
