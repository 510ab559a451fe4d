"""`tf.contrib.learn`: the Estimators of TensorFlow 0.8 to 1.15, on top of the package `tensorflow_estimator`.

Its `Estimator` has `fit` where today's has `train`, takes arrays or an `input_fn`, and is told its metrics when it is
evaluated; everything else (sessions, checkpoints, hooks, canned networks) is the package's. Stands among the doors
because the package is imported through one; only the TF 1 door shows these names.
"""
