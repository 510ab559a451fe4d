"""`tf.vectorized_map`: a function of one row applied to all rows at once, op by op."""
