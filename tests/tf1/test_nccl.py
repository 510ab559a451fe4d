"""`tf.contrib.nccl`: values of several devices brought together."""

import pytest

import ebbflow as tf
from ebbflow.tf1 import nccl


@pytest.mark.parametrize(("name", "value"), [("sum", 6.0), ("prod", 6.0), ("min", 1.0), ("max", 3.0)])
def test_all_get_it_where_they_are(name, value):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tensors = []
        for i in range(3):
            with tf.device(f"/device:CPU:{i % 1}"):
                tensors.append(tf.constant([float(i + 1)]))
        found = getattr(nccl, f"all_{name}")(tensors)
        assert [t.device for t in found] == ["/device:CPU:0"] * 3
        assert [t.tolist() for t in session.run(found)] == [[value]] * 3


def test_one_sum_and_copies():
    assert float(nccl.reduce_sum([1.0, 2.0])) == 3.0 and float(nccl.broadcast(4.0)) == 4.0


@pytest.mark.parametrize("tensors", [[], [[1.0], [1.0, 2.0]], [1.0, 1]])
def test_unlike_tensors_are_refused(tensors):
    with pytest.raises(ValueError, match=r"nccl\.all_sum"):
        nccl.all_sum(tensors)
