"""Ebbflow: the TensorFlow programming model, written again. Tensors flow, gradients ebb.

    import ebbflow as tf          TF 2: eager by default
    import ebbflow.v1 as tf       TF 1: graphs, sessions, tf.contrib
    ebbflow run script.py         the script's own `import tensorflow`

This package is the TF 2 door: its names come from the tables in `ebbflow.api`, each fetched on first use.
"""

from ebbflow.api.namespace import open_door

open_door(__name__, "v2")
del open_door
