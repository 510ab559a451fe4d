"""`tf.layers`: layers as classes that own their variables, and as functions that make and call one."""
