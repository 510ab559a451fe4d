"""Variables in .npz and .safetensors files."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.checkpoint.array_variables import export_variables, import_variables


def variables(scale):
    return [
        tf.Variable(scale * np.arange(6, dtype=np.float32).reshape(2, 3), name="w"),
        tf.Variable(np.array(int(scale)), name="n"),
        tf.Variable(tf.cast([scale, 2 * scale], tf.bfloat16), name="half"),
    ]


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_out_and_in(tmp_path, ending):
    path = tmp_path / f"weights.{ending}"
    kept, again = variables(3.0), variables(0.0)
    export_variables(path, kept)
    import_variables(path, again)
    for a, b in zip(kept, again, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    import_variables(path, {"w": again[0]})
    again[0].assign_add(tf.ones([2, 3]))  # the file's bytes are nobody's to write to
    assert again[0].numpy().tolist() == (kept[0].numpy() + 1).tolist()


def test_text(tmp_path):
    path, text = tmp_path / "w.npz", tf.Variable(["a", "bc"], name="text")
    export_variables(path, [text])
    text.assign(["", ""])
    import_variables(path, [text])
    assert text.numpy().tolist() == [b"a", b"bc"]


def test_every_difference_is_told(tmp_path):
    path = tmp_path / "m.safetensors"
    export_variables(path, variables(1.0))
    w, n = tf.Variable(tf.zeros([3])), tf.Variable(1.0)
    told = r"(?s)halves is missing \(the file has half\).*w has shape \[2, 3\].*n is int64.*Not asked for: \['half'\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        import_variables(path, {"halves": n, "w": w, "n": n})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must end in"):
        export_variables(tmp_path / "m.txt", [w])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Two variables are called"):
        export_variables(path, [w, n])
