"""Input functions of `tf.contrib.learn.io` over what is in memory."""

import numpy as np
import pytest

import ebbflow.v1 as tf1
from ebbflow.doors.learn import arrays_in
from tests.machine import KERAS_2


def rows():
    for i in range(5):
        yield {"a": [i] * (i % 2 + 1), "b": float(i), "y": i}


def all_of(input_fn):
    with tf1.Graph().as_default():
        fetches, found = input_fn(), []
        with tf1.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(session.run(fetches))
    return found


def test_a_generator_in_batches_with_padding():
    found = all_of(arrays_in.generator_input_fn(rows, "y", batch_size=2, shuffle=False, pad_value=-1))
    features, targets = found[0]
    assert features["a"].tolist() == [[0, -1], [1, 1]] and features["b"].tolist() == [0.0, 1.0]
    assert [batch[1].tolist() for batch in found] == [[0, 1], [2, 3], [4]] and "y" not in features
    assert targets.dtype == np.int64


def test_what_is_no_generator_is_refused():
    with pytest.raises(TypeError, match="x must be generator function; got list"):
        arrays_in.generator_input_fn([1])
    with pytest.raises(TypeError, match=r"x\(\) must be generator; got list"):
        all_of(arrays_in.generator_input_fn(lambda: [1]))
    with pytest.raises(KeyError, match="'z' is none of"):
        all_of(arrays_in.generator_input_fn(rows, "z"))


class Frame:
    """What is asked of a frame of pandas."""

    def __init__(self, **columns):
        self.columns, self.arrays = list(columns), [np.asarray(values) for values in columns.values()]
        self.dtypes = [array.dtype for array in self.arrays]

    def to_numpy(self):
        return np.stack([array.astype(object) for array in self.arrays], axis=1)


def test_frames_become_arrays():
    frame = Frame(a=[1, 2], b=[True, False])
    assert arrays_in.extract_pandas_data(frame).tolist() == [[1.0, 1.0], [2.0, 0.0]]
    with pytest.raises(ValueError, match="must be int, float, or bool\\. Found: c: "):
        arrays_in.extract_pandas_data(Frame(c=["x"]))
    with pytest.raises(ValueError, match="Only one column for labels"):
        arrays_in.extract_pandas_labels(frame)
    assert arrays_in.extract_pandas_matrix(frame).dtype == object
    assert arrays_in.extract_pandas_data([1]) == [1]


@KERAS_2
def test_arrays_in_batches():
    found = all_of(arrays_in.numpy_input_fn({"a": np.arange(3)}, np.array([0, 1, 0]), batch_size=2, shuffle=False))
    assert [batch[0]["a"].tolist() for batch in found] == [[0, 1], [2]]
