"""Bijectors: functions that can be undone, and by how much they stretch; `tf.contrib.distributions.bijectors`."""
