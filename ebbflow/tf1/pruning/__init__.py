"""Weights that are set to zero while a model trains (`tf.contrib.model_pruning`).

`masks` multiplies weights by masks of ones and zeros, and updates these as training goes on, by the magnitude of
weights or of blocks of them (`blocks`); `layers` are layers and cells whose weights are masked so; `stripping` takes
the masks out of a trained graph again.
"""
