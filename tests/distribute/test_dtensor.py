"""Tensors in parts on a mesh of four CPUs: layouts that go in and come out, gradients, variables, functions, refusals.

XLA makes its devices when it starts, so the cases run in one process of their own; each says its name when it is done.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile

import pytest


def case_layouts(tf, np, dtensor, mesh):
    Layout = dtensor.Layout
    x = dtensor.call_with_layout(tf.ones, Layout(["batch", "unsharded"], mesh), [4, 6])
    assert dtensor.is_dtensor(x) and not dtensor.is_dtensor(tf.ones([2]))
    assert dtensor.fetch_layout(x).sharding_specs == ["batch", "unsharded"]
    y = dtensor.copy_to_mesh(np.arange(48.0).reshape(6, 8), Layout.inner_sharded(mesh, "model", 2))
    product = tf.matmul(tf.cast(x, tf.float64), y)
    assert dtensor.fetch_layout(product).sharding_specs == ["batch", "model"]
    np.testing.assert_array_equal(product.numpy(), np.ones((4, 6)) @ np.arange(48.0).reshape(6, 8))
    assert dtensor.fetch_layout(tf.nn.relu(product) * 2.0 - 1.0).sharding_specs == ["batch", "model"]
    again = dtensor.relayout(product, Layout.replicated(mesh, 2))
    assert dtensor.fetch_layout(again).is_fully_replicated()
    assert dtensor.fetch_layout(dtensor.relayout_like(again, product)) == dtensor.fetch_layout(product)
    dtensor.check_layout(again, Layout.replicated(mesh, 2))
    assert float(tf.reduce_sum(x)) == 24.0 and x[0, 1].numpy() == 1.0 and tf.reshape(x, [-1]).shape == [24]
    assert "ShardedArray" in repr(x)
    text = Layout(["batch", "unsharded"], mesh).to_string()
    assert Layout.from_string(text) == Layout(["batch", "unsharded"], mesh)
    assert dtensor.Mesh.from_string(mesh.to_string()) == mesh
    assert Layout(["batch", "model"], mesh).offset_to_shard() == [0, 1, 2, 3]


def case_parts(tf, np, dtensor, mesh):
    layout = dtensor.Layout(["batch", "model"], mesh)
    whole = np.arange(16).reshape(4, 4)
    parts = dtensor.unpack(dtensor.copy_to_mesh(whole, layout))
    assert [p.numpy().tolist() for p in parts[:2]] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert dtensor.pack(parts, layout).numpy().tolist() == whole.tolist()
    for wrong in (parts[:3], [*parts[:3], tf.zeros([1, 2], tf.int64)]):
        try:
            dtensor.pack(wrong, layout)
        except ValueError as error:
            assert "pack" in str(error)
        else:
            raise AssertionError("not refused")


def case_saving_by_name(tf, np, dtensor, mesh):
    values = np.arange(32.0, dtype=np.float32).reshape(4, 8)
    layout = dtensor.Layout(["batch", "model"], mesh)
    tensors = {"w": dtensor.DVariable(values, layout=layout), "t": dtensor.copy_to_mesh(values + 0.25, layout)}
    with tempfile.TemporaryDirectory() as folder:
        dtensor.name_based_save(mesh, f"{folder}/named", tensors)
        assert tf.train.load_variable(f"{folder}/named", "w").tolist() == values.tolist()
        other = dtensor.Layout(["unsharded", "batch"], mesh)
        wanted = {name: dtensor.copy_to_mesh(np.zeros((4, 8), np.float32), other) for name in tensors}
        found = dtensor.name_based_restore(mesh, f"{folder}/named", wanted)
        assert found["t"].numpy().tolist() == (values + 0.25).tolist()
        assert dtensor.fetch_layout(found["w"]).sharding_specs == ["unsharded", "batch"]
        slices = [f"8 8 {at},4:0,8" for at in (0, 4)]
        parts = [dtensor.copy_to_mesh(values + at, layout) for at in (0, 4)]
        dtensor.sharded_save(mesh, f"{folder}/cut", ["v", "v"], slices, parts)
        assert tf.train.load_variable(f"{folder}/cut", "v")[4:].tolist() == (values + 4).tolist()
        for wrong in ({}, {"w": tf.ones([2])}):
            try:
                dtensor.name_based_save(mesh, f"{folder}/wrong", wrong)
            except ValueError as error:
                assert "name_based_save" in str(error)
            else:
                raise AssertionError("not refused")
        saved = dtensor.DVariable(values + 1e-3, layout=layout)
        dtensor.enable_save_as_bf16([saved, tf.Variable(1.0)])
        path = tf.train.Checkpoint(v=saved).save(f"{folder}/half")
        (name,) = [n for n, _ in tf.train.list_variables(path) if n.startswith("v/")]
        assert tf.train.load_checkpoint(path).get_variable_to_dtype_map()[name] == tf.bfloat16
        again = dtensor.DVariable(np.zeros((4, 8), np.float32), layout=layout)
        dtensor.enable_save_as_bf16([again])
        tf.train.Checkpoint(v=again).restore(path)
        np.testing.assert_allclose(again.numpy(), values, atol=0.2)
        assert again.dtype == tf.float32


def case_processes(tf, np, dtensor, mesh):
    assert dtensor.job_name() == "localhost" and dtensor.full_job_name() == "localhost/replica:0/task:0"
    assert dtensor.jobs() == [] and dtensor.heartbeat_enabled()
    os.environ.update(DTENSOR_JOB_NAME="trainer", DTENSOR_JOBS="a:1,b:2", DTENSOR_ENABLE_HEARTBEAT="0")
    assert dtensor.full_job_name(0) == "trainer/replica:0/task:0" and dtensor.jobs() == ["a:1", "b:2"]
    assert not dtensor.heartbeat_enabled()
    try:
        dtensor.full_job_name(3)
    except ValueError as error:
        assert "Unexpected task ID 3" in str(error)
    else:
        raise AssertionError("not refused")


def case_checkpoints(tf, np, dtensor, mesh):
    """What was saved from a mesh of 2 x 2 is the same on 1 x 4, 4 x 1, and on no mesh at all (C9)."""
    values = np.arange(32.0).reshape(4, 8)
    saved = dtensor.DVariable(values, layout=dtensor.Layout(["batch", "model"], mesh))
    with tempfile.TemporaryDirectory() as folder:
        path = dtensor.DTensorCheckpoint(mesh, w=saved, step=tf.Variable(7)).save(f"{folder}/saved")
        for rows in (1, 4):
            other = dtensor.create_mesh([("batch", rows), ("model", 4 // rows)], device_type="CPU")
            layout = dtensor.Layout(["batch", "model"], other)
            step, taken = tf.Variable(0), dtensor.DVariable(np.zeros_like(values), layout=layout)
            checkpoint = dtensor.DTensorCheckpoint(mesh=other, w=taken, step=step)
            checkpoint.restore(path).assert_existing_objects_matched()
            assert np.array_equal(taken.numpy(), values) and int(step) == 7
            assert dtensor.fetch_layout(taken.read_value()) == taken.layout == layout
        plain = tf.Variable(np.zeros_like(values))
        tf.train.Checkpoint(w=plain).restore(path).expect_partial()
        assert np.array_equal(plain.numpy(), values)
    try:
        dtensor.DTensorCheckpoint("no mesh")
    except ValueError as error:
        assert "must be a dtensor.Mesh" in str(error)
    else:
        raise AssertionError("not refused")


def case_gradients(tf, np, dtensor, mesh):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 6)), rng.normal(size=(6, 8))
    results = []
    for place in (
        lambda v, sides: tf.constant(v),
        lambda v, sides: dtensor.copy_to_mesh(v, dtensor.Layout(sides, mesh)),
    ):
        x, w = place(a, ["batch", "unsharded"]), place(b, ["unsharded", "model"])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, w])
            with tf.GradientTape() as inner:
                inner.watch(w)
                loss = tf.reduce_mean(tf.nn.softmax(tf.tanh(tf.matmul(x, w))) ** 2)
            first = inner.gradient(loss, w)
            bend = tf.reduce_sum(first * first)
        results.append([loss.numpy(), first.numpy(), tape.gradient(bend, w).numpy(), tape.gradient(loss, x).numpy()])
    for one, spread in zip(*results):
        np.testing.assert_allclose(one, spread, rtol=1e-10, atol=1e-14)


def case_variables(tf, np, dtensor, mesh):
    layout = dtensor.Layout(["unsharded", "model"], mesh)
    v = dtensor.DVariable(np.zeros((2, 4), np.float32), layout=layout)
    v.assign(np.ones((2, 4)))
    v.assign_add(tf.ones([2, 4]))
    v.assign_sub(dtensor.copy_to_mesh(np.full((2, 4), 0.5, np.float32), dtensor.Layout.replicated(mesh, 2)))
    assert v.layout == layout == dtensor.fetch_layout(v) and v.numpy().tolist() == [[1.5] * 4] * 2

    @tf.function
    def step(x):
        v.assign_add(x)
        if tf.reduce_sum(v) > 100.0:
            v.assign(tf.zeros_like(v))
        return tf.reduce_sum(v) + 1.0

    assert [float(step(tf.fill([2, 4], 10.0))) for _ in range(3)] == [93.0, 1.0, 81.0]
    assert dtensor.fetch_layout(v.read_value()) == layout
    with dtensor.default_mesh(mesh):
        assert dtensor.DVariable(tf.ones([3])).layout.is_fully_replicated()
        assert dtensor.get_default_mesh() is mesh
    path = tf.train.Checkpoint(v=v).write(sys.argv[1])
    plain = tf.Variable(tf.zeros([2, 4]))
    tf.train.Checkpoint(v=plain).read(path)
    assert plain.numpy().tolist() == v.numpy().tolist()
    other = dtensor.DVariable(np.zeros((2, 4), np.float32), layout=dtensor.Layout(["batch", "unsharded"], mesh))
    tf.train.Checkpoint(v=other).read(path)
    assert other.numpy().tolist() == v.numpy().tolist() and other.layout.sharding_specs == ["batch", "unsharded"]


def case_optimizers(tf, np, dtensor, mesh):
    from ebbflow.ops.declare import raw

    start, grad = np.linspace(0, 1, 8, dtype=np.float32), np.linspace(-1, 1, 8, dtype=np.float32)
    found, layout = [], dtensor.Layout(["model"], mesh)
    for spread in (False, True):
        make = (lambda v: dtensor.DVariable(v, layout=layout)) if spread else tf.Variable
        var, m, v = make(start), make(start * 0), make(start * 0)
        g = dtensor.copy_to_mesh(grad, layout) if spread else tf.constant(grad)
        for _ in range(3):
            raw.ResourceApplyAdam(var.handle, m.handle, v.handle, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-7, g)
        found.append(var.numpy())
    np.testing.assert_allclose(*found, rtol=1e-6)


def case_functions(tf, np, dtensor, mesh):
    layout = dtensor.Layout(["batch", "unsharded"], mesh)

    @tf.function
    def inner(x):
        return dtensor.relayout(tf.matmul(x, x, transpose_b=True), dtensor.Layout(["unsharded", "model"], mesh))

    @tf.function
    def outer(x, n):
        for _ in tf.range(n):
            x = x * 0.5
        return inner(x), tf.shape(x), tf.constant([1, 2])

    x = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
    product, shape, known = outer(dtensor.copy_to_mesh(x, layout), tf.constant(2))
    np.testing.assert_allclose(product.numpy(), (x / 4) @ (x / 4).T, rtol=1e-5)
    assert dtensor.fetch_layout(product).sharding_specs == ["unsharded", "model"]
    assert shape.numpy().tolist() == [4, 6] and known.numpy().tolist() == [1, 2]
    np.testing.assert_allclose(outer(tf.constant(x), tf.constant(0))[0].numpy(), x @ x.T, rtol=1e-5)


def case_datasets(tf, np, dtensor, mesh):
    layouts = (dtensor.Layout(["batch", "unsharded"], mesh), dtensor.Layout(["batch"], mesh))
    rows = tf.data.Dataset.from_tensor_slices((np.arange(20.0).reshape(10, 2), np.arange(10)))
    batches = dtensor.DTensorDataset(rows, mesh=mesh, layouts=layouts, global_batch_size=4, batch_dim="batch")
    found = list(batches)
    assert len(found) == len(batches) == 2
    assert dtensor.fetch_layout(found[0][0]) == layouts[0] and found[1][1].numpy().tolist() == [4, 5, 6, 7]


def case_refusals(tf, np, dtensor, mesh):
    def refused(kind, says, call):
        try:
            call()
        except kind as error:
            assert says in str(error), error
        else:
            raise AssertionError(f"{says}: not refused")

    layout = dtensor.Layout(["batch"], mesh)
    refused(tf.errors.InvalidArgumentError, "cannot be divided", lambda: dtensor.copy_to_mesh(np.ones(3), layout))
    refused(ValueError, "rank", lambda: dtensor.relayout(tf.ones([2, 2]), layout))
    refused(ValueError, "not on a mesh", lambda: dtensor.fetch_layout(tf.ones([2])))
    refused(ValueError, "not on a mesh", lambda: dtensor.unpack(tf.ones([2])))
    refused(ValueError, "layout", lambda: dtensor.DVariable(tf.ones([2])))
    refused(ValueError, "did not match", lambda: dtensor.check_layout(
        dtensor.copy_to_mesh(np.ones(4), layout), dtensor.Layout(["model"], mesh)))  # fmt: skip
    x = dtensor.copy_to_mesh(np.array([3.0, 1.0, 2.0, 2.0]), layout)
    refused(tf.errors.UnimplementedError, "cannot run on a mesh", lambda: tf.unique(x))
    refused(tf.errors.OpError, "Unique", lambda: tf.function(lambda x: tf.unique(x).y)(x))


def case_names_of_tpus(tf, np, dtensor, mesh):
    assert dtensor.initialize_tpu_system() == "CPU"
    try:
        dtensor.create_tpu_mesh(["x"], [1], "m")
    except ValueError as error:
        assert "Invalid TPU topology" in str(error)
    else:
        raise AssertionError("not refused")
    dtensor.shutdown_tpu_system()


CASES = {name: case for name, case in globals().items() if name.startswith("case_")}
HEAD = """
import os
import sys
import tempfile
import numpy as np
import ebbflow as tf
from ebbflow.experimental import dtensor
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4)
mesh = dtensor.create_mesh([("batch", 2), ("model", 2)], device_type="CPU")
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What the process says that runs every case, whatever became of those before it."""
    folder = tmp_path_factory.mktemp("mesh")
    program = HEAD + "import traceback\n" + "".join(inspect.getsource(case) for case in CASES.values())
    for name in CASES:
        program += f"try:\n    {name}(tf, np, dtensor, mesh)\n    print('well', {name!r})\nexcept BaseException:\n"
        program += f"    print('ill', {name!r}, traceback.format_exc())\n"
    path = folder / "program.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, str(path), str(folder / "saved")], capture_output=True, text=True, timeout=250
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted(CASES))
def test_on_a_mesh(said, name):
    assert f"well {name}" in said, said


def test_too_few_devices_are_named():
    program = (
        "import ebbflow as tf, jax\njax.devices()\nfrom ebbflow.experimental import dtensor\n"
        "tf.config.set_logical_device_configuration(tf.config.list_physical_devices('CPU')[0],"
        " [tf.config.LogicalDeviceConfiguration()] * 2)\n"
        "mesh = dtensor.create_mesh([('x', 2)], device_type='CPU')\n"
        "dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout(['x'], mesh))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "XLA was started with 1" in done.stderr and "XLA_FLAGS" in done.stderr
