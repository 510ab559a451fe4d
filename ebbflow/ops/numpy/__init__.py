"""`tf.experimental.numpy`: NumPy's functions, by NumPy's rules of types, on tensors."""
