"""Feature columns: how the raw values of a table (prices, words, ids) become what a model takes.

Knows sparse tensors, lookup tables and variables; knows nothing of Keras layers or Estimators, which use it.
"""
