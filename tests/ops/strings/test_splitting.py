"""Texts in parts."""

import pytest

import ebbflow as tf
from ebbflow.core import context


@pytest.mark.parametrize("tf1, parts", [(True, [b"1", b"2"]), (False, [[b"1", b"2"]])])
def test_one_text_is_no_row_of_them_in_tf_1(monkeypatch, tf1, parts):
    monkeypatch.setattr(context.switches, "tf1", tf1)
    found = tf.compat.v1.strings.split("1,2", sep=",", result_type="RaggedTensor")
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == parts
