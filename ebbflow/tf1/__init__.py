"""What only TensorFlow 1 had: the families of `tf.contrib` that are more than other names for something."""
