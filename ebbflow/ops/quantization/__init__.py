"""Numbers of few bits: quantised for real, or only as if, for training."""
