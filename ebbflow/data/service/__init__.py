"""`tf.data.experimental.service`: datasets that other processes run, and give to whoever asks."""
