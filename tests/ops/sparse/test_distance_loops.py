"""Edit distances as machine code: those of the way over Python's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.sparse import counting


@pytest.mark.parametrize("kind", ["letters", "words", "numbers"])
@pytest.mark.parametrize("normalize", [False, True])
def test_code_gives_what_python_gives(kind, normalize, monkeypatch):
    random = np.random.RandomState(3)
    alphabet = {"letters": list("abcé"), "words": ["a longer word", "another", ""], "numbers": [1, 2, -3]}[kind]

    def rows() -> tf.SparseTensor:
        lengths = random.randint(0, 12, 60)
        places = [(i // 6, i % 6, j) for i, n in enumerate(lengths) for j in range(n)]
        values = [alphabet[k] for k in random.randint(0, len(alphabet), len(places))]
        return tf.SparseTensor(np.array(places, np.int64), values, [10, 6, 12])

    said, meant = rows(), rows()
    turned = tf.SparseTensor(said.indices[::-1], said.values[::-1], said.dense_shape)
    call = lambda: [tf.edit_distance(a, meant, normalize).numpy() for a in (said, turned)]
    call()
    late_code.settle()
    quick = call()
    monkeypatch.setattr(counting, "FEW", 1 << 60)
    for a, b in zip(quick, call(), strict=True):
        np.testing.assert_array_equal(a, b)
