"""Record checkpoints that TensorFlow wrote, by name and by object, and the values in them.

    python tools/record/checkpoints.py

Run it in an environment that has TensorFlow 2.21 (CPU). Writes `ckpt_mlp_ref/`, `ckpt_mlp_resource/`, `ckpt_sharded/`
and `ckpt_tf2/` below tests/golden/tf221. Numbers come from seeds. Of the two small nets only the graphs are kept.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

WRITES = ("tf221/ckpt_mlp_ref/*", "tf221/ckpt_mlp_resource/*", "tf221/ckpt_sharded/*", "tf221/ckpt_tf2/*")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "tf221"
V1 = tf.compat.v1


def main() -> None:
    """Write the files anew."""
    for pattern in WRITES:
        folder = GOLDEN.parent / pathlib.Path(pattern).parent
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    by_object(GOLDEN / "ckpt_tf2")
    with tf.Graph().as_default():
        sharded(GOLDEN / "ckpt_sharded")
    for kind in ("ref", "resource"):
        with tf.Graph().as_default():
            mlp(GOLDEN / f"ckpt_mlp_{kind}", kind == "resource")


# --- by name ----------------------------------------------------------------------------------------------------------


def mlp(folder: pathlib.Path, resource: bool) -> None:
    """Train a net with a partitioned embedding for five steps; keep the graph and the folder's state."""
    numbers = np.random.RandomState(31)
    x = V1.placeholder(tf.float32, [None, 4], name="mlp/x")
    ids = V1.placeholder(tf.int32, [None], name="mlp/ids")
    labels = V1.placeholder(tf.int32, [None], name="mlp/labels")
    with V1.variable_scope("mlp", use_resource=resource):
        logits = net(x, ids, numbers)
    loss = tf.reduce_mean(V1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
    step = V1.train.get_or_create_global_step()
    train = V1.train.AdamOptimizer(0.01).minimize(loss, global_step=step, name="train")
    fed = {x: numbers.randn(6, 4), ids: numbers.randint(0, 10, 6), labels: numbers.randint(0, 3, 6)}
    saver = V1.train.Saver()
    with tempfile.TemporaryDirectory() as scratch, V1.Session() as session:
        session.run(V1.global_variables_initializer())
        for _ in range(5):
            session.run(train, fed)
        saver.save(session, os.path.join(scratch, "model.ckpt"), global_step=step)
        for name in ("checkpoint", "model.ckpt-5.meta"):
            shutil.copy(os.path.join(scratch, name), folder / name)
    relative(folder / "checkpoint")


def net(x: tf.Tensor, ids: tf.Tensor, numbers: np.random.RandomState) -> tf.Tensor:
    def values(*shape: int) -> np.ndarray:
        return (numbers.randn(*shape) * 0.3).astype(np.float32)

    whole = values(10, 5)

    def rows(shape: list[int], dtype: tf.DType, partition_info: object) -> tf.Tensor:
        start = partition_info.var_offset[0]
        return tf.constant(whole[start : start + shape[0]])

    table = V1.get_variable("emb", [10, 5], tf.float32, initializer=rows, partitioner=lambda shape, dtype: [3, 1])
    h = tf.concat([x, V1.nn.embedding_lookup(tf.convert_to_tensor(table), ids)], 1)
    h = tf.nn.relu(tf.matmul(h, variable("w1", values(9, 7))) + variable("b1", values(7)))
    return tf.add(tf.matmul(h, variable("w2", values(7, 3))), variable("b2", values(3)), name="logits")


def variable(name: str, value: np.ndarray) -> tf.Variable:
    return V1.get_variable(name, initializer=value)


def relative(path: pathlib.Path) -> None:
    """Have a folder's state speak of files beside it."""
    lines = [line.split('"') for line in path.read_text().splitlines() if "timestamp" not in line]
    path.write_text("".join(f'{head}"{os.path.basename(name)}"\n' for head, name, _ in lines))


def sharded(folder: pathlib.Path) -> None:
    """Write tensors of all types into three data files, two of them in slices."""
    numbers = np.random.RandomState(32)
    plain, text = plain_values(numbers), text_values()
    big, columns = numbers.randn(200, 3).astype(np.float32), numbers.randn(3, 7)
    groups = [list(plain)[0::2], list(plain)[1::2], list(text)]
    prefix, shards = str(folder / "model"), []
    for k, names in enumerate(groups):
        rows, cut = [(0, 70), (70, 70), (140, 60)][k], [(0, 3), (3, 2), (5, 2)][k]
        given = [tf.constant((plain | text)[name]) for name in names]
        given += [tf.constant(big[rows[0] : sum(rows)]), tf.constant(columns[:, cut[0] : sum(cut)])]
        slices = ["" for _ in names] + [f"200 3 {rows[0]},{rows[1]}:-", f"3 7 -:{cut[0]},{cut[1]}"]
        shard = tf.raw_ops.ShardedFilename(basename=f"{prefix}_temp/part", shard=k, num_shards=3)
        with tf.control_dependencies(
            [
                tf.raw_ops.SaveV2(
                    prefix=shard, tensor_names=[*names, "p/big", "p/cols"], shape_and_slices=slices, tensors=given
                )
            ]
        ):
            shards.append(tf.identity(shard))
    merge = tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=tf.stack(shards), destination_prefix=prefix)
    with V1.Session() as session:
        session.run(merge)
    (folder / "checkpoint").write_text('model_checkpoint_path: "model"\nall_model_checkpoint_paths: "model"\n')
    arrays = {name: value for name, value in plain.items() if name != "bf16"} | {"p/big": big, "p/cols": columns}
    np.savez(folder / "expected.npz", **arrays, **{"bf16:as_uint16": plain["bf16"].view(np.uint16)})
    told = {
        name: {
            "dtype": "string",
            "shape": list(value.shape),
            "hex": [item.hex() for item in value.reshape(-1).tolist()],
        }
        for name, value in text.items()
    }
    (folder / "expected_strings.json").write_text(json.dumps(told, indent=1) + "\n")


def plain_values(numbers: np.random.RandomState) -> dict[str, np.ndarray]:
    return {
        "f32": numbers.randn(4, 5).astype(np.float32),
        "f64": numbers.randn(3),
        "f16": numbers.randn(5).astype(np.float16),
        "bf16": numbers.randn(3, 2).astype(tf.bfloat16.as_numpy_dtype),
        "i8": np.array([-128, 127], np.int8),
        "i16": np.array([-5, 300], np.int16),
        "i32": np.array([[1, -2]], np.int32),
        "i64": np.array(-(1 << 62), np.int64),
        "u8": np.array([0, 255], np.uint8),
        "u16": np.array([65535], np.uint16),
        "u32": np.array([4_000_000_000], np.uint32),
        "u64": np.array([1 << 63], np.uint64),
        "bool": np.array([True, False, True]),
        "c64": np.array([1 + 2j], np.complex64),
        "c128": np.array([[1.5 - 2j]]),
        "scalar": np.array(2.5, np.float32),
        "empty": np.zeros((0, 3), np.float32),
    }


def text_values() -> dict[str, np.ndarray]:
    return {
        "scope/str": np.array([[b"hello", b""], [b"\x00\xff bin", b"x" * 300]], object),
        "sstr": np.array(b"scalar string", object),
    }


# --- by object --------------------------------------------------------------------------------------------------------


def by_object(folder: pathlib.Path) -> None:
    """Write a module with TF 1's Adam, and a Keras model with its own."""
    keys = {}
    for name, values in {"v1adam": module_with_adam(folder), "keras_adam": keras_model(folder)}.items():
        path = str(folder / name / "ckpt-1")
        reader = tf.train.load_checkpoint(path)
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        keys[name] = {key: {"shape": shapes[key], "dtype": dtypes[key].name} for key in sorted(shapes)}
        stored = {f"ckpt:{key}": reader.get_tensor(key) for key in sorted(shapes) if key[0] != "_"}
        np.savez(folder / f"{name}.expected.npz", **stored, **values)
        relative(folder / name / "checkpoint")
    (folder / "keys.json").write_text(json.dumps(keys, indent=1) + "\n")


class Layer(tf.Module):
    """A matrix and a vector."""

    def __init__(self, numbers: np.random.RandomState, n: int, m: int):
        super().__init__()
        self.w = tf.Variable(numbers.randn(n, m).astype(np.float32), name="w")
        self.b = tf.Variable(numbers.randn(m).astype(np.float32), name="b")


class Model(tf.Module):
    """Two layers in a list, and two settings in a dict."""

    def __init__(self, numbers: np.random.RandomState):
        super().__init__()
        self.layers = [Layer(numbers, 3, 4), Layer(numbers, 4, 2)]
        self.cfg = {"temp": tf.Variable(0.7), "a/b.c": tf.Variable([3, 5])}


def module_with_adam(folder: pathlib.Path) -> dict[str, np.ndarray]:
    numbers = np.random.RandomState(33)
    checkpoint = tf.train.Checkpoint(
        model=Model(numbers), optimizer=V1.train.AdamOptimizer(0.05), step=tf.Variable(0, dtype=tf.int64)
    )
    x = numbers.randn(5, 3).astype(np.float32)

    def steps(count: int) -> np.ndarray:
        losses = []
        for _ in range(count):
            with tf.GradientTape() as tape:
                h = x
                for layer in checkpoint.model.layers:
                    h = tf.tanh(h @ layer.w + layer.b)
                loss = tf.reduce_sum(h * h) * checkpoint.model.cfg["temp"]
            variables = [v for layer in checkpoint.model.layers for v in (layer.w, layer.b)]
            checkpoint.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            checkpoint.step.assign_add(1)
            losses.append(float(loss))
        return np.array(losses)

    before = steps(3)
    tf.train.CheckpointManager(checkpoint, str(folder / "v1adam"), max_to_keep=2).save()
    return {"x": x, "losses_0_2": before, "losses_3_5": steps(3)}


def keras_model(folder: pathlib.Path) -> dict[str, np.ndarray]:
    numbers = np.random.RandomState(34)
    tf.keras.utils.set_random_seed(35)
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)]
    )
    x, y = numbers.randn(5, 3).astype(np.float32), numbers.randn(5, 1).astype(np.float32)
    optimizer = tf.keras.optimizers.Adam(0.05)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)
    tf.train.CheckpointManager(checkpoint, str(folder / "keras_adam"), max_to_keep=2).save()
    return {"x": x, "y": y, "pred": model(x).numpy()}


if __name__ == "__main__":
    main()
