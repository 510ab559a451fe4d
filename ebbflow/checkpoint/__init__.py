"""Checkpoints: variables by name (`tf.train.Saver`) and by object (`tf.train.Checkpoint`), and their folders."""
