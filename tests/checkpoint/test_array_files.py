"""Variables in .npz and .safetensors files."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.checkpoint.array_files import export_variables, import_variables, read_arrays


def variables(scale):
    return [
        tf.Variable(scale * np.arange(6, dtype=np.float32).reshape(2, 3), name="w"),
        tf.Variable(np.array(int(scale)), name="n"),
        tf.Variable(tf.cast([scale, 2 * scale], tf.bfloat16), name="half"),
    ]


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_out_and_in(tmp_path, ending):
    path = tmp_path / f"weights.{ending}"
    kept = variables(3.0) if ending == "safetensors" else variables(3.0)[:2]
    export_variables(path, kept)
    again = variables(0.0)[: len(kept)]
    import_variables(path, again)
    for a, b in zip(kept, again, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    import_variables(path, {"w": again[0]})


def test_a_safetensors_file_is_what_others_write(tmp_path):
    header = json.dumps({
        "__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    }).encode()  # fmt: skip
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + np.array([1, 2], np.float32).tobytes())
    assert read_arrays(str(path))["w"].tolist() == [1.0, 2.0]


def test_every_difference_is_told(tmp_path):
    path = tmp_path / "m.safetensors"
    export_variables(path, variables(1.0))
    w, n = tf.Variable(tf.zeros([3])), tf.Variable(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)zz is missing.*w has shape \[2, 3\].*n is int64"):
        import_variables(path, {"w": w, "n": n, "zz": n})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must end in"):
        export_variables(tmp_path / "m.txt", [w])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Two variables are called"):
        export_variables(path, [w, n])


BAD = {
    "empty": b"", "long header": struct.pack("<Q", 1 << 60) + b"{}", "no json": struct.pack("<Q", 2) + b"{]",
    "outside": b'{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}',
    "huge": b'{"w":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}',
    "dtype": b'{"w":{"dtype":"PY","shape":[1],"data_offsets":[0,4]}}', "shape": b'{"w":{"dtype":"F32"}}',
    "negative": b'{"w":{"dtype":"F32","shape":[-1],"data_offsets":[4,0]}}', "list": b"[1]",
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_spoilt_files(tmp_path, fault):
    data = BAD[fault]
    if data[:1] in (b"{", b"["):
        data = struct.pack("<Q", len(data)) + data
    for ending in ("safetensors", "npz"):
        path = tmp_path / f"m.{ending}"
        path.write_bytes(data)
        with pytest.raises(tf.errors.DataLossError, match=f"m.{ending}"):
            read_arrays(str(path))
