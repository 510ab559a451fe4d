"""Datasets: sequences of elements that are made when somebody iterates over them.

A dataset is a scalar of dtype variant that holds a `Pipe`, made by an op with TensorFlow's name: eagerly at once, in a
graph when it runs. The Python classes are a thin front: they know the structure of elements, trace the user's functions
and call the ops. Knows graphs, functions and files; imported by `api` only.
"""
