"""`tf.lookup`: tables as objects of a program."""
