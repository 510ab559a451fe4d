"""tf.train.Checkpoint: objects go into files and come back, now or when they are made; what differs is told."""

from __future__ import annotations

import contextlib
import copy
import pathlib
import threading
import weakref

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1
from ebbflow.checkpoint import object_saver
from ebbflow.checkpoint.checkpoint import add_variable
from ebbflow.checkpoint.positions import object_metadata
from ebbflow.core import context

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "tf221" / "ckpt_tf2"


class Layer(tf.Module):
    def __init__(self, n, m):
        super().__init__()
        self.w = tf.Variable(tf.zeros([n, m]))
        self.b = tf.Variable(tf.zeros([m]))


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Layer(3, 4), Layer(4, 2)]
        self.cfg = {"temp": tf.Variable(0.0), "a/b.c": tf.Variable([0, 0])}


def kind_of_golden():
    return tf.train.Checkpoint(
        model=Model(), optimizer=tf.compat.v1.train.AdamOptimizer(0.05), step=tf.Variable(0, dtype=tf.int64)
    )


def adam_steps(checkpoint, x, count):
    """Train as the program did that wrote the golden file."""
    losses = []
    for _ in range(count):
        with tf.GradientTape() as tape:
            h = x
            for layer in checkpoint.model.layers:
                h = tf.tanh(h @ layer.w + layer.b)
            loss = tf.reduce_sum(h * h) * checkpoint.model.cfg["temp"]
        variables = [v for layer in checkpoint.model.layers for v in (layer.w, layer.b)]
        checkpoint.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        losses.append(float(loss))
    return losses


# --- TensorFlow's files -----------------------------------------------------------------------------------------------


def test_a_checkpoint_of_tensorflow_is_restored_and_written_again(tmp_path):
    checkpoint = kind_of_golden()
    checkpoint.restore(str(GOLDEN / "v1adam" / "ckpt-1"))
    x = np.load(GOLDEN / "v1adam.expected.npz")["x"]
    adam_steps(checkpoint, x, 1)  # makes the slots and powers: their values were waiting
    checkpoint.restore(str(GOLDEN / "v1adam" / "ckpt-1")).assert_consumed()
    checkpoint.save_counter.assign_sub(1)
    path = checkpoint.save(tmp_path / "ckpt")
    ours, theirs = object_metadata(path), object_metadata(str(GOLDEN / "v1adam" / "ckpt-1"))
    for graph in (ours, theirs):
        for node in graph.nodes:
            for attribute in node.attributes:
                attribute.full_name = ""  # the programs' own names
    assert ours == theirs
    reader = tf.train.load_checkpoint(path)
    with np.load(GOLDEN / "v1adam.expected.npz") as expected:
        keys = [key for key in expected.files if key.startswith("ckpt:")]
        for key in keys:
            np.testing.assert_array_equal(reader.get_tensor(key.removeprefix("ckpt:")), expected[key])
    assert len(reader.get_variable_to_shape_map()) == len(keys) + 1


def test_slots_come_back_with_the_first_step():
    checkpoint = kind_of_golden()
    checkpoint.restore(str(GOLDEN / "v1adam" / "ckpt-1"))
    with np.load(GOLDEN / "v1adam.expected.npz") as expected:
        for i, layer in enumerate(checkpoint.model.layers):
            for name in ("m", "v"):
                key = f"ckpt:model/layers/{i}/w/.OPTIMIZER_SLOT/optimizer/{name}/.ATTRIBUTES/VARIABLE_VALUE"
                np.testing.assert_array_equal(checkpoint.optimizer.get_slot(layer.w, name), expected[key])


# --- objects ----------------------------------------------------------------------------------------------------------


class Halves(tf.__internal__.tracking.Trackable):
    """An object with two values of its own."""

    def __init__(self, a, b):
        self.a, self.b = tf.constant(a), tf.constant(b)

    def _serialize_to_tensors(self):
        return {"first": self.a, "second": self.b}

    def _restore_from_tensors(self, restored_tensors):
        self.a, self.b = restored_tensors["first"], restored_tensors["second"]


class State(tf.train.experimental.PythonState):
    text = ""

    def serialize(self):
        return self.text

    def deserialize(self, string_value):
        self.text = string_value.numpy().decode() if hasattr(string_value, "numpy") else string_value.decode()


def everything():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    return tf.train.Checkpoint(
        table=table,
        generator=tf.random.Generator.from_seed(3),
        iterator=iter(tf.data.Dataset.range(10)),
        halves=Halves(0.0, 0.0),
        state=State(),
        nested=[tf.Variable(0.0), {"a": tf.Variable(0.0)}, (tf.Variable(0.0),)],
    )


def test_all_kinds_of_objects(tmp_path):
    first = everything()
    first.table.insert(["x"], [3])
    first.generator.normal([2])
    next(first.iterator), next(first.iterator)
    first.halves = Halves(1.0, 2.0)
    first.state.text = "hello"
    first.nested[1]["a"].assign(5.0)
    first.nested[2][0].assign(6.0)
    path = first.save(tmp_path / "ckpt")
    follows = first.generator.normal([2])
    second = everything()
    second.restore(path).assert_consumed()
    assert second.table.lookup(tf.constant(["x"])).numpy().tolist() == [3]
    np.testing.assert_array_equal(second.generator.normal([2]), follows)
    assert int(next(second.iterator)) == 2
    assert (float(second.halves.a), float(second.halves.b), second.state.text) == (1.0, 2.0, "hello")
    assert (float(second.nested[1]["a"]), float(second.nested[2][0])) == (5.0, 6.0)


def test_moving_averages(tmp_path):
    def program():
        v = tf.Variable([1.0, 2.0], name="v")
        ema = tf.train.ExponentialMovingAverage(0.5)
        return v, ema, tf.train.Checkpoint(v=v, ema=ema)

    v, ema, checkpoint = program()
    ema.apply([v])
    ema.average(v).assign([7.0, 8.0])
    path = checkpoint.save(tmp_path / "ckpt")
    v, ema, checkpoint = program()
    status = checkpoint.restore(path)
    ema.apply([v])
    status.assert_consumed()
    np.testing.assert_allclose(ema.average(v), [4.0, 5.0])


def test_values_wait_for_objects(tmp_path):
    first = tf.train.Checkpoint(a=tf.Module(), b=[tf.Variable(1.0)])
    first.a.v = tf.Variable([2.0])
    path = first.save(tmp_path / "ckpt")
    second = tf.train.Checkpoint()
    status = second.restore(path)
    with pytest.raises(AssertionError, match=r"(?s)Unresolved object in checkpoint \(root\).*2 objects"):
        status.assert_consumed()
    second.a = tf.Module()
    second.a.v = tf.Variable([0.0])
    assert float(second.a.v[0]) == 2.0
    second.b = [tf.Variable(0.0)]
    assert float(second.b[0]) == 1.0
    status.assert_consumed()
    assert int(second.save_counter) == 1


def test_a_root(tmp_path):
    model = Model()
    model.layers[0].b.assign([1.0, 2.0, 3.0, 4.0])
    checkpoint = tf.train.Checkpoint(model, extra=tf.Variable(3.0))
    path = checkpoint.save(tmp_path / "ckpt")
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "layers/0/b/.ATTRIBUTES/VARIABLE_VALUE" in names and "extra/.ATTRIBUTES/VARIABLE_VALUE" in names
    again = Model()
    other = tf.train.Checkpoint(root=again, extra=tf.Variable(0.0))
    other.restore(path).assert_consumed()
    assert float(other.extra) == 3.0 and int(other.save_counter) == 1
    assert again.layers[0].b.numpy().tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="already exists"):
        tf.train.Checkpoint(root=model, layers=tf.Variable(1.0))


def test_partial_matches(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(tmp_path / "ckpt")
    only_a = tf.train.Checkpoint(a=tf.Variable(0.0))
    status = only_a.read(path).expect_partial()
    status.assert_existing_objects_matched().assert_nontrivial_match()
    with pytest.raises(AssertionError, match=r"\(root\).b \(b/.ATTRIBUTES/VARIABLE_VALUE\)"):
        status.assert_consumed()
    more = tf.train.Checkpoint(a=tf.Variable(0.0), c=tf.Variable(0.0), d=tf.Variable(0.0))
    with pytest.raises(AssertionError, match="Found 2 Python objects that were not bound"):
        more.read(path).assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        tf.train.Checkpoint(z=tf.Variable(0.0)).read(path).expect_partial().assert_nontrivial_match()


def test_every_mismatch_is_told(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable([1.0]), b=tf.Variable([1.0, 2.0]), c=tf.Variable(1)).write(tmp_path / "m")
    other = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0, 3.0]), b=tf.Variable(1.0), c=tf.Variable(2.0))
    with pytest.raises(ValueError, match=r"(?s)shape \(1,\).*shape \(3,\).*a/.*shape \(2,\).*b/.*c/.*dtype float32"):
        other.read(path)
    assert other.c.numpy() == 2.0  # nothing was restored


def test_from_nothing_and_nowhere(tmp_path):
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0))
    status = checkpoint.restore(None)
    status.initialize_or_restore()
    for question in (status.assert_consumed, status.assert_existing_objects_matched, status.run_restore_ops):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            question()
    with pytest.raises(tf.errors.NotFoundError, match="double-check that the path is correct"):
        checkpoint.restore(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="expecting x to be a trackable object"):
        tf.train.Checkpoint(x=3)


def test_in_a_function(tmp_path):
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0))

    @tf.function
    def write(path):
        checkpoint.a.assign_add(1.0)
        return checkpoint.write(path)

    path = write(tf.constant(str(tmp_path / "ckpt"))).numpy().decode()
    checkpoint.a.assign(0.0)
    checkpoint.read(path).assert_consumed()
    assert float(checkpoint.a) == 2.0


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_into_objects_and_back(tmp_path):
    context.enter_v1()
    with tf1.Graph().as_default(), tf1.Session() as sess:
        v = tf1.get_variable("dense/kernel", [2], use_resource=True)
        sess.run(v.assign([1.0, 2.0]))
        by_name = tf1.train.Saver([v]).save(sess, str(tmp_path / "names"), write_meta_graph=False)
    context.enter_v2()
    kernel = tf.Variable([0.0, 0.0], name="dense/kernel")
    checkpoint = tf.train.Checkpoint(layer=kernel)
    checkpoint.restore(by_name).assert_consumed()
    assert kernel.numpy().tolist() == [1.0, 2.0]
    kernel.assign([3.0, 4.0])
    by_object = checkpoint.save(tmp_path / "objects")
    context.enter_v1()
    with tf1.Graph().as_default(), tf1.Session() as sess:
        v = tf1.get_variable("dense/kernel", [2], use_resource=True)
        tf1.train.Saver({"dense/kernel": v}).restore(sess, by_object)
        assert sess.run(v).tolist() == [3.0, 4.0]
        w = tf1.get_variable("other", [2], use_resource=True)
        with pytest.raises(tf.errors.NotFoundError, match=r"(?s)not in the checkpoint: other.*1 variable name"):
            tf1.train.Saver([v, w]).restore(sess, by_object)


def test_eager_names(tmp_path):
    v = tf.Variable([1.0], name="v")
    saver = tf1.contrib.eager.Saver([v])
    path = saver.save(tmp_path / "m", global_step=3)
    v.assign([0.0])
    saver.restore(path)
    assert v.numpy().tolist() == [1.0]
    with tf1.contrib.eager.restore_variables_on_create(path):
        assert tf1.contrib.eager.Variable([9.0], name="v").numpy().tolist() == [1.0]
        assert tf.Variable([9.0], name="v").numpy().tolist() == [9.0]  # a checkpoint's value is given once
        with pytest.raises(tf.errors.NotFoundError, match="w not found in checkpoint"):
            tf.Variable([9.0], name="w")


# --- sessions ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def session():
    context.enter_v1()
    with tf1.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        yield session


def training():
    v = tf1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    optimizer = tf1.train.AdamOptimizer(0.1)
    step = optimizer.minimize(tf1.reduce_sum(v * v))
    return v, optimizer, step, tf1.train.Checkpoint(v=v, optimizer=optimizer)


def test_in_a_session(tmp_path, session):
    v, optimizer, step, checkpoint = training()
    session.run(tf1.global_variables_initializer())
    session.run(step)
    before = session.run([v, optimizer.get_slot(v, "m")])
    path = checkpoint.save(str(tmp_path / "ckpt"))
    assert path.endswith("ckpt-1")
    session.run(step)
    nodes = len(session.graph.get_operations())
    for _ in range(3):
        checkpoint.save(str(tmp_path / "ckpt"))
    assert len(session.graph.get_operations()) == nodes
    status = checkpoint.restore(path).assert_consumed()
    status.run_restore_ops()
    for a, b in zip(before, session.run([v, optimizer.get_slot(v, "m")]), strict=True):
        np.testing.assert_array_equal(a, b)
    nodes = len(session.graph.get_operations())
    checkpoint.restore(path).run_restore_ops()
    assert len(session.graph.get_operations()) == nodes


def test_eager_into_a_session_and_back(tmp_path, session):
    v, optimizer, step, checkpoint = training()
    checkpoint.restore(None).initialize_or_restore()
    session.run([step, step])
    path = checkpoint.save(str(tmp_path / "graph"))
    value, slot = session.run([v, optimizer.get_slot(v, "m")])
    context.enter_v2()
    done = {}

    def eagerly():
        w = tf.Variable([0.0, 0.0])
        adam = tf1.train.AdamOptimizer(0.1)
        other = tf.train.Checkpoint(v=w, optimizer=adam)
        other.restore(path)
        done.update(v=w.numpy(), m=adam.get_slot(w, "m").numpy())
        w.assign([5.0, 6.0])
        done["path"] = other.save(str(tmp_path / "eager"))

    thread = threading.Thread(target=eagerly)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(done["v"], value)
    np.testing.assert_array_equal(done["m"], slot)
    context.enter_v1()
    checkpoint.restore(done["path"]).initialize_or_restore()
    assert session.run(v).tolist() == [5.0, 6.0]


# --- managers ---------------------------------------------------------------------------------------------------------


def test_manager(tmp_path):
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.restore_or_initialize() is None
    paths = []
    for i in range(4):
        step.assign(i)
        paths.append(manager.save())
    assert manager.checkpoints == paths[2:] and manager.latest_checkpoint == paths[-1]
    assert tf.train.latest_checkpoint(tmp_path) == paths[-1]
    assert sorted(p.name for p in tmp_path.glob("*.index")) == ["ckpt-3.index", "ckpt-4.index"]
    again = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1)
    assert again.checkpoints == paths[2:]
    step.assign(9)
    assert again.restore_or_initialize() == paths[-1] and int(step) == 3
    assert again.save(checkpoint_number=77).endswith("ckpt-77")
    with pytest.raises(ValueError, match="positive"):
        tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=0)


def test_manager_with_steps_and_hours(tmp_path):
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    called = []
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=1.0, step_counter=step,
        checkpoint_interval=5, init_fn=lambda: called.append(1),
    )  # fmt: skip
    manager.restore_or_initialize()
    assert called == [1] and manager.checkpoint_interval == 5
    saved = []
    for i in range(12):
        step.assign(i)
        saved.append(manager.save() is not None)
    assert saved == [i % 5 == 0 for i in range(12)]
    manager._last_preserved_timestamp -= 7200
    manager.save(check_interval=False)
    assert len(list(tmp_path.glob("*.index"))) == 2  # the one before was kept for its hour


def test_in_the_background(tmp_path, monkeypatch):
    v = tf.Variable(np.ones([1000], np.float32))
    checkpoint = tf.train.Checkpoint(v=v)
    told, may_go = [], threading.Event()
    save_bundle = object_saver.save_bundle

    def slowly(*arguments):
        may_go.wait(30)
        save_bundle(*arguments)

    monkeypatch.setattr(object_saver, "save_bundle", slowly)
    options = tf.train.CheckpointOptions(enable_async=True, experimental_write_callbacks=[told.append])
    path = checkpoint.save(tmp_path / "ckpt", options=options)
    v.assign_add(np.ones([1000], np.float32))  # what is being saved does not change
    assert not told and tf.train.latest_checkpoint(tmp_path) is None
    may_go.set()
    checkpoint.sync()
    assert told == [path] and tf.train.latest_checkpoint(tmp_path) == path
    checkpoint.restore(path).assert_consumed()
    assert v.numpy().sum() == 1000
    monkeypatch.setattr(object_saver, "save_bundle", lambda *a: 1 / 0)
    checkpoint.save(tmp_path / "ckpt", options=options)
    with pytest.raises(ZeroDivisionError):
        checkpoint.sync()
    assert tf.train.latest_checkpoint(tmp_path) == path


def test_templates_and_added_variables(tmp_path):
    def program():
        template = tf1.make_template("t", lambda: tf1.get_variable("v", shape=[1], initializer=tf1.zeros_initializer()))
        module = tf.Module()
        return template, module, tf.train.Checkpoint(template=template, module=module)

    template, module, checkpoint = program()
    template().assign([4.0])
    add_variable(module, "w", initializer=5.0)
    path = checkpoint.save(tmp_path / "ckpt")
    assert "template/v/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    template, module, checkpoint = program()
    status = checkpoint.restore(path)
    assert template().numpy().tolist() == [4.0]
    assert float(add_variable(module, "w", initializer=0.0)) == 5.0
    status.assert_consumed()
    with pytest.raises(ValueError, match="do not specify shape"):
        add_variable(module, "x", shape=[], initializer=1)


def test_a_checkpoint_is_copied(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    twin = copy.deepcopy(checkpoint)
    twin.v.assign(2.0)
    path = twin.save(tmp_path / "ckpt")
    assert float(checkpoint.v) == 1.0
    checkpoint.restore(path).expect_partial()
    assert float(checkpoint.v) == 2.0


def test_a_model_is_copied_with_the_checkpoint_that_looks_at_it(tmp_path):
    model = tf.Module()
    model.v = tf.Variable(1.0)
    model.checkpoint = tf.train.Checkpoint(root=weakref.ref(model))
    twin = copy.deepcopy(model)
    twin.v.assign(2.0)
    path = twin.checkpoint.save(tmp_path / "ckpt")
    model.checkpoint.restore(path)
    assert float(model.v) == 2.0


def test_it_does_not_keep_itself_alive(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = checkpoint.save(tmp_path / "ckpt")
    checkpoint.restore(path)
    gone = weakref.ref(checkpoint)
    del checkpoint
    assert gone() is None


def test_a_view_compares_a_checkpoint_with_objects(tmp_path):
    first, second = tf.Module(), tf.Module()
    first.a, first.c = tf.Module(), tf.Module()
    first.a.b = tf.Variable(1.0)
    path = tf.train.Checkpoint(root=first).save(str(tmp_path / "view"))
    second.c, second.d = tf.Module(), tf.Module()
    second.d.e = tf.Module()
    view = tf.train.CheckpointView(path)
    assert view._descendants_with_paths() == {
        0: "root",
        1: "root.a",
        2: "root.c",
        3: "root.save_counter",
        4: "root.a.b",
    }
    assert view.descendants() == [0, 1, 2, 3, 4] and view.children(1) == {"b": 4}
    assert view.match(second) == {0: second, 2: second.c}
    assert view.diff(second) == ({0: second, 2: second.c}, [1, 3, 4], [second.d, second.d.e])
    with pytest.raises(ValueError, match="trackable"):
        view.match(3)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_python_state_is_bytes_and_comes_back_at_once(tmp_path, graph):
    class Notes(tf.train.experimental.PythonState):
        def __init__(self, text):
            self.text = text

        def serialize(self):
            return self.text.encode()

        def deserialize(self, string_value):
            self.text = bytes.decode(string_value)

    with contextlib.ExitStack() as stack:
        if graph:
            stack.enter_context(tf.Graph().as_default())
            stack.enter_context(tf.compat.v1.Session())
        notes = Notes("first")
        checkpoint = tf.compat.v1.train.Checkpoint(notes=notes) if graph else tf.train.Checkpoint(notes=notes)
        if graph:
            checkpoint.save_counter.initializer.run()
        paths = []
        for text in ("first", "second", "third"):
            notes.text = text
            paths.append(checkpoint.save(str(tmp_path / "state")))
        for path, text in zip(paths, ("first", "second", "third"), strict=True):
            checkpoint.restore(path)
            assert notes.text == text
