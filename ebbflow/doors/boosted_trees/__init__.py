"""`tf.estimator.BoostedTreesClassifier` and its kin, which the last release of `tensorflow_estimator` leaves out.

Columns and their buckets in `features.py`, what makes layers of trees in `growing.py`, the model function in
`model.py`, the Estimators in `estimators.py`.
"""
