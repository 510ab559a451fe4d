"""The tables themselves, one file a family: BOTH doors' names, then those of V1 or V2 alone. Where a family has them,
INSIDE are names of TensorFlow's inner modules (`python.ops.lookup_ops`), CONTRIB those of `tf.contrib`.

A table is text, one row an object:

    [ops.reduce.reductions]                      the room its rows come from: ebbflow.ops.reduce.reductions
    reduce_all math.reduce_all                   its function reduce_all is tf.reduce_all and tf.math.reduce_all
    reduce_sum_v1 as reduce_sum math.reduce_sum  its function reduce_sum_v1 is tf.reduce_sum and tf.math.reduce_sum
    errors.: OpError UnknownError                short for two rows, errors.OpError and errors.UnknownError

`FAMILIES` is the list of files; a name may stand in one row of one era only (a test looks).
"""

from ebbflow.api.tables import (
    arrays,
    autograph,
    checkpoints,
    contrib_families,
    control_flow,
    data,
    distribute,
    distributions,
    estimators,
    examples,
    feature_columns,
    functions,
    graphs,
    images,
    keras,
    keras_2,
    lookup,
    math,
    messages,
    metrics,
    monitored,
    nets,
    numpy_functions,
    platform,
    queues,
    saved_models,
    signal,
    slim,
    sparse,
    state,
    strings,
    trackables,
    training,
    values,
)

FAMILIES = (
    values, math, nets, arrays, sparse, graphs, functions, autograph, control_flow, state, training, metrics, messages,
    platform, data, trackables, lookup, queues, monitored, slim, feature_columns, estimators,
    keras, keras_2, distribute, distributions,
    checkpoints, saved_models,
    signal, strings, images, examples, numpy_functions, contrib_families,
)  # fmt: skip
"""The families that have tables for both doors."""
