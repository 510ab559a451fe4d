"""Tensors go into bundles and come back: byte for byte as TensorFlow writes them, whole and in slices, both formats."""

from __future__ import annotations

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import errors
from ebbflow.io.bundle import BundleReader, bundle_exists
from ebbflow.io.bundle_writer import BundleWriter
from ebbflow.io.save_ops import open_checkpoint
from ebbflow.io.sorted_table import read_table, table_bytes

GOLDEN = pathlib.Path(__file__).parent.parent / "golden"
SHARDED = GOLDEN / "tf221" / "ckpt_sharded" / "model"
raw = tf.raw_ops


# --- what TensorFlow wrote --------------------------------------------------------------------------------------------


def test_sharded_bundle_of_tensorflow():
    reader = BundleReader(SHARDED)
    with np.load(SHARDED.parent / "expected.npz") as expected:
        for key in expected.files:
            name, _, form = key.partition(":as_")
            value = reader.read(name)
            np.testing.assert_array_equal(value.view(np.uint16) if form else value, expected[key])
    for name, expected in json.loads((SHARDED.parent / "expected_strings.json").read_text()).items():
        value = reader.read(name)
        assert list(value.shape) == expected["shape"]
        assert [v.hex() for v in value.reshape(-1).tolist()] == expected["hex"]


@pytest.mark.parametrize("start,count", [(0, 5), (60, 20), (100, 100), (199, 1)])
def test_part_of_a_tensor_in_slices(start, count):
    whole = BundleReader(SHARDED).read("p/big")
    (part,) = raw.RestoreV2(
        prefix=str(SHARDED),
        tensor_names=["p/big"],
        shape_and_slices=[f"{whole.shape[0]} {whole.shape[1]} {start},{count}:-"],
        dtypes=[tf.as_dtype(whole.dtype)],
    )
    np.testing.assert_array_equal(part, whole[start : start + count])


def test_tables_are_written_byte_for_byte():
    path = str(SHARDED) + ".index"
    assert table_bytes(read_table(path).items()) == pathlib.Path(path).read_bytes()


def test_large_tables(tmp_path):
    entries = [(f"layer_{i:05d}/kernel".encode(), bytes(40)) for i in range(9000)]
    (tmp_path / "t").write_bytes(table_bytes(entries))
    assert list(read_table(str(tmp_path / "t")).items()) == entries
    with pytest.raises(ValueError, match="ascend"):
        table_bytes([(b"b", b""), (b"a", b"")])


# --- what we write ----------------------------------------------------------------------------------------------------

VALUES = {
    "f32": np.arange(6, dtype=np.float32).reshape(2, 3), "f64": np.array(2.5), "i8": np.array([-1, 5], np.int8),
    "u16": np.array([65535], np.uint16), "i64": np.array([1 << 60]), "b": np.array([True, False]),
    "c64": np.array([1 + 2j], np.complex64), "c128": np.array(3j), "half": np.array([1.5], np.float16),
    "bf16": np.array([1.5, -2], ml_dtypes.bfloat16), "empty": np.zeros([0, 3], np.float32),
    "s": np.array([b"", b"a\0b", b"x" * 300], object).reshape(1, 3), "scalar_s": np.array(b"alone", object),
}  # fmt: skip


@pytest.mark.parametrize("version", [1, 2])
def test_round_trip(tmp_path, version):
    path = str(tmp_path / "sub" / "model")
    names = list(VALUES)
    tensors = [tf.constant(v) for v in VALUES.values()]
    if version == 1:
        raw.Save(filename=path, tensor_names=names, data=tensors)
    else:
        raw.SaveV2(prefix=path, tensor_names=names, shape_and_slices=[""] * len(names), tensors=tensors)
    got = raw.RestoreV2(
        prefix=path, tensor_names=names, shape_and_slices=[""] * len(names), dtypes=[t.dtype for t in tensors]
    )
    for name, value in zip(names, got, strict=True):
        assert value.numpy().dtype == VALUES[name].dtype if VALUES[name].dtype != object else True
        np.testing.assert_array_equal(value.numpy(), VALUES[name])
    reader = open_checkpoint(path)
    assert sorted(reader.names) == sorted(names)
    np.testing.assert_array_equal(reader.mapped("f32"), VALUES["f32"])


@pytest.mark.parametrize("version", [1, 2])
def test_slices(tmp_path, version):
    path, whole = str(tmp_path / "model"), np.arange(20.0).reshape(10, 2)
    specs = ["10 2 0,4:0,2", "10 2 4,6:0,2"]
    parts = [whole[:4], whole[4:]]
    if version == 1:
        raw.SaveSlices(filename=path, tensor_names=["w", "w"], shapes_and_slices=specs, data=parts)
    else:
        raw.SaveV2(prefix=path, tensor_names=["w", "w"], shape_and_slices=specs, tensors=parts)
    np.testing.assert_array_equal(open_checkpoint(path).read("w"), whole)
    got = raw.RestoreSlice(file_pattern=path, tensor_name="w", shape_and_slice="10 2 3,3:1,1", dt=tf.float64)
    np.testing.assert_array_equal(got, whole[3:6, 1:])


def test_merging(tmp_path):
    parts = [str(tmp_path / f"m_temp/part-0000{i}-of-00002") for i in range(2)]
    raw.SaveV2(prefix=parts[0], tensor_names=["a", "w"], shape_and_slices=["", "4 0,2"], tensors=[1.0, [1.0, 2.0]])
    raw.SaveV2(prefix=parts[1], tensor_names=["b", "w"], shape_and_slices=["", "4 2,2"], tensors=[2.0, [3.0, 4.0]])
    raw.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=str(tmp_path / "m"))
    reader = BundleReader(tmp_path / "m")
    assert [reader.read(n).tolist() for n in ("a", "b", "w")] == [1.0, 2.0, [1.0, 2.0, 3.0, 4.0]]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"]
    raw.SaveV2(prefix=str(tmp_path / "m"), tensor_names=["a"], shape_and_slices=[""], tensors=[5.0])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.data-00000-of-00001", "m.index"]


def test_names_of_shards():
    name = raw.ShardedFilename(basename="a/m", shard=1, num_shards=12)
    assert name.numpy() == b"a/m-00001-of-00012"
    assert raw.ShardedFilespec(basename="a/m", num_shards=12).numpy() == b"a/m-?????-of-00012"
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_shards must be a scalar, got shape"):
        raw.ShardedFilename(basename="a/m", shard=1, num_shards=[12])


# --- replacing one ----------------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_checkpoint(tmp_path):
    path = str(tmp_path / "m")
    raw.SaveV2(prefix=path, tensor_names=["a"], shape_and_slices=[""], tensors=[1.0])
    with pytest.raises(errors.InvalidArgumentError, match="duplicate"):
        raw.SaveV2(prefix=path, tensor_names=["a", "a"], shape_and_slices=["", ""], tensors=[2.0, 3.0])
    assert BundleReader(path).read("a") == 1.0
    assert len(list(tmp_path.iterdir())) == 2


def test_pending_files_count_once_their_index_is_there(tmp_path):
    old, new = tmp_path / "m", tmp_path / "n"
    for path, value in ((old, 1.0), (new, 2.0)):
        with BundleWriter(path) as writer:
            writer.add("a", np.float32(value), tf.float32)
    (tmp_path / "n.data-00000-of-00001").rename(tmp_path / "m.data-00000-of-00001.pending")
    assert BundleReader(old).read("a") == 1.0
    (tmp_path / "n.index").rename(tmp_path / "m.index.pending")
    assert BundleReader(old).read("a") == 2.0
    (tmp_path / "m.data-00000-of-00001.pending").rename(tmp_path / "m.data-00000-of-00001")
    assert BundleReader(old).read("a") == 2.0
    with BundleWriter(old) as writer:
        writer.add("a", np.float32(3.0), tf.float32)
    assert BundleReader(old).read("a") == 3.0
    assert not list(tmp_path.glob("*.pending"))


def test_other_file_systems():
    path = "memory://checkpoints/model"
    raw.SaveV2(prefix=path, tensor_names=["a"], shape_and_slices=[""], tensors=[[1.0, 2.0]])
    assert bundle_exists(path)
    assert BundleReader(path).mapped("a").tolist() == [1.0, 2.0]
    raw.SaveV2(prefix=path, tensor_names=["a"], shape_and_slices=[""], tensors=[[3.0]])
    assert BundleReader(path).read("a").tolist() == [3.0]


# --- what is refused --------------------------------------------------------------------------------------------------


def restore(path, names, kinds, specs=None):
    return raw.RestoreV2(prefix=path, tensor_names=names, shape_and_slices=specs or [""] * len(names), dtypes=kinds)


def test_refusals(tmp_path):
    path = str(tmp_path / "m")
    raw.SaveV2(prefix=path, tensor_names=["dense/kernel", "b"], shape_and_slices=["", ""], tensors=[[1.0], [2.0]])
    with pytest.raises(errors.NotFoundError, match=r"(?s)Key dense/kernal not found.*2 of 2 .*near: dense/kernel.*zz"):
        restore(path, ["dense/kernal", "zz"], [tf.float32] * 2)
    with pytest.raises(errors.InvalidArgumentError, match="expected dtype float64 does not equal original dtype float"):
        restore(path, ["b"], [tf.float64])
    with pytest.raises(errors.InvalidArgumentError, match=r"\[3\] does not match the shape stored in checkpoint: \[1"):
        restore(path, ["b"], [tf.float32], ["3 0,1"])
    every = r"(?s)tensor_name = b; .*2 of 2 tensors asked for differ:\n  b: shape.*\n  dense/kernel: expected dtype"
    with pytest.raises(errors.InvalidArgumentError, match=every):
        restore(path, ["b", "dense/kernel"], [tf.float32, tf.int32], ["3 0,1", ""])
    for spec in ("nonsense", "3 0,9", "3 0,1:0,1", "x 0,1", "3 -1,2"):
        with pytest.raises(errors.InvalidArgumentError, match="Invalid shape_and_slice"):
            restore(path, ["b"], [tf.float32], [spec])
    with pytest.raises(errors.InvalidArgumentError, match="does not match the shape of the tensor"):
        raw.SaveV2(prefix=path, tensor_names=["w"], shape_and_slices=["4 0,3"], tensors=[[1.0]])
    with pytest.raises(errors.InvalidArgumentError, match="Got 1 tensor_names but 2"):
        raw.SaveV2(prefix=path, tensor_names=["w"], shape_and_slices=["", ""], tensors=[1.0])
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching files for"):
        restore(str(tmp_path / "none"), ["w"], [tf.float32])
    (tmp_path / "text").write_text("hello" * 40)
    with pytest.raises(errors.DataLossError, match="not an sstable"):
        restore(str(tmp_path / "text"), ["w"], [tf.float32])


def test_a_spec_for_each_name():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must have the same length"):
        tf.raw_ops.RestoreV2(prefix="x", tensor_names=["a", "b"], shape_and_slices=[""], dtypes=[tf.float32])
