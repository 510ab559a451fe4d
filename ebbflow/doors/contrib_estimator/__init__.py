"""`tf.contrib.estimator`: heads, extenders and Estimators that went with `tf.estimator` in TF 1.

What the package `tensorflow_estimator` has kept is its own (`kept.py`); the rest stands on its Estimator and heads.
"""
