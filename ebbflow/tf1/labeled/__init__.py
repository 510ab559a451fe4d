"""Tensors whose axes have names, and whose places along an axis may have labels (`tf.contrib.labeled_tensor`)."""
