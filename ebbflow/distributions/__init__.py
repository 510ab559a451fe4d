"""Probability distributions of TF 1: `tf.distributions` and `tf.contrib.distributions`, with bijectors."""
