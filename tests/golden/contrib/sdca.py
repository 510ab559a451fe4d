"""Cases of SDCA's ops, written once and run on TensorFlow 2.21 (which the answers are from) and here, eagerly.

An epoch goes over examples in random order, so cases have one example, or go on until the order does not matter.
"""

import numpy as np

CASES = {}
LOSSES = "logistic_loss squared_loss hinge_loss smooth_hinge_loss poisson_loss".split()  # noqa: SIM905


def case(function):
    CASES[function.__name__] = function
    return function


def answers(tf, names=None):
    return {name: [np.asarray(value).tolist() for value in CASES[name](tf)] for name in names or CASES}


@case
def fingerprints(tf):
    source = np.random.RandomState(1)
    lengths = [*range(40), 63, 64, 65, 127, 128, 129, 144, 145, 200, 255, 256, 300, 400]
    return [tf.raw_ops.SdcaFprint(input=[source.bytes(n) for n in lengths])]


def epochs(tf, count, times, **options):
    source = np.random.RandomState(2)
    rows = np.repeat(np.arange(count), 2)
    places = np.stack([source.choice(4, 2, replace=False) for _ in range(count)]).reshape(-1)
    fixed = {
        "sparse_example_indices": [rows],
        "sparse_feature_indices": [places * 10],
        "sparse_feature_values": [source.uniform(0.5, 1, 2 * count).astype(np.float32)],
        "dense_features": [source.uniform(-1, 1, (count, 2)).astype(np.float32)],
        "example_weights": source.uniform(0.5, 2, count).astype(np.float32),
        "example_labels": (source.uniform(size=count) > 0.5).astype(np.float32),
        "sparse_indices": [np.arange(4) * 10],
        "num_inner_iterations": 1,
    }
    sparse, dense = np.full(4, 0.1, np.float32), np.full(2, -0.2, np.float32)
    state, found = np.zeros((count, 4), np.float32), []
    for _ in range(times):
        state, (more,), (other,) = tf.raw_ops.SdcaOptimizerV2(
            sparse_weights=[sparse], dense_weights=[dense], example_state_data=state, **dict(fixed, **options)
        )
        sparse, dense = sparse + more.numpy(), dense + other.numpy()
        found = [state, sparse, dense]
    return found


@case
def one_example(tf):
    found = []
    for loss in LOSSES:
        for l1, l2, partitions in ((0.0, 1.0, 1), (0.1, 0.7, 3)):
            for times in (1, 2):
                found += epochs(tf, 1, times, loss_type=loss, l1=l1, l2=l2, num_loss_partitions=partitions)
    return found


@case
def until_nothing_changes(tf):
    found = []
    for loss in ("logistic_loss", "squared_loss", "smooth_hinge_loss"):
        state, *weights = epochs(tf, 12, 150, loss_type=loss, l1=0.2, l2=4.0, num_loss_partitions=1)
        found += [state[:, 0], *weights]  # threads of TensorFlow's leave losses of earlier epochs beside the duals
    return found
