"""The doors as modules: names fetched on first use, submodules that import, errors that name what was meant."""

import importlib
import importlib.util
import inspect
import pickle
import subprocess
import sys
import threading
import types

import pytest

import ebbflow as tf
from ebbflow.api import namespace, views, whole_names
from ebbflow.core import context, dispatch


@pytest.fixture
def v1():
    """The TF 1 door, with the process back in TF 2's manners afterwards."""
    door = importlib.import_module("ebbflow.v1")
    yield door
    context.enter_v2()


def test_a_door_is_a_module():
    assert isinstance(tf, types.ModuleType)
    assert tf.__name__ == "ebbflow"
    assert inspect.ismodule(tf.nn)
    assert tf.nn is sys.modules["ebbflow.nn"]


@pytest.mark.parametrize(
    "statement, expression",
    [
        ("from ebbflow import errors", "errors.NotFoundError"),
        ("import ebbflow.errors", "ebbflow.errors.NotFoundError"),
        ("import ebbflow.io.gfile as gfile", "gfile.GFile"),
        ("from ebbflow.compat.v1 import flags", "flags.FLAGS"),
        ("import ebbflow.compat.v1 as tf1", "tf1.app.flags.FLAGS"),
        ("from ebbflow.compat.v1.compat.v2 import version", "version.VERSION"),
        ("from ebbflow.python.framework import errors_impl", "errors_impl.OpError"),
        ("from ebbflow.python.util.nest import flatten", "flatten"),
    ],
)
def test_namespaces_import(statement, expression):
    scope = {}
    exec(statement, scope)
    assert eval(expression, scope) is not None


def test_names_are_fetched_once_and_kept():
    fresh = importlib.import_module("ebbflow.compat.v2.errors")
    vars(fresh).pop("AbortedError", None)
    assert "AbortedError" not in whole_names.own_dictionary(fresh)
    first = fresh.AbortedError
    assert first is tf.errors.AbortedError
    assert first is vars(fresh)["AbortedError"]


def test_one_object_has_one_identity_at_every_door(v1):
    assert v1.float32 is tf.float32 is tf.compat.v1.float32 is tf.dtypes.float32
    assert v1.errors.OpError is tf.errors.OpError
    assert v1.app.flags.FLAGS is v1.flags.FLAGS is tf.compat.v1.app.flags.FLAGS


def test_functions_of_one_era_are_called_what_the_public_calls_them(v1):
    names = [f.__name__ for f in (v1.nn.softmax, v1.nn.dropout, v1.transpose, v1.nn.conv2d, tf.transpose)]
    assert names == ["softmax", "dropout", "transpose", "conv2d", "transpose"]


@pytest.mark.parametrize(
    "path, version",
    [
        ("ebbflow", "2.21.0"),
        ("ebbflow.compat.v1", "2.21.0"),
        ("ebbflow.compat.v2", "2.21.0"),
    ],
)
def test_versions(path, version):
    door = importlib.import_module(path)
    for shown in (door.__version__, door.VERSION, door.version.VERSION):
        assert shown == version
    assert version != door.version.EBBFLOW


def test_version_of_the_first_door(v1):
    assert v1.__version__ == v1.VERSION == v1.version.VERSION == v1.compat.v1.__version__ == "1.15.5"
    assert v1.GRAPH_DEF_VERSION == v1.version.GRAPH_DEF_VERSION
    assert v1.compat.v2.__version__ == "2.21.0"


def test_dir_lists_the_table():
    listed = dir(tf)
    assert set(views.view("v2").spaces[""]) <= set(listed)
    assert "open_door" not in listed
    assert "__version__" in listed
    assert dir(tf.errors) == sorted(dir(tf.errors))


def test_star_import_takes_the_public_names():
    scope = {}
    exec("from ebbflow.errors import *", scope)
    assert scope["NotFoundError"] is tf.errors.NotFoundError
    assert not [name for name in scope if name.startswith("_") and name != "__builtins__"]


@pytest.mark.parametrize(
    "path, says",
    [
        ("float3", "did you mean tf.float32?"),
        ("errors.NotFondError", "did you mean tf.errors.NotFoundError?"),
        ("errors.GFile", "did you mean tf.gfile.GFile?"),
        ("contrib", "tf.contrib exists only at the TF 1 door"),
        ("mul", "tf.mul exists only at the TF 1 door"),
        ("lite", "tf.lite is not part of Ebbflow: save models with tf.saved_model.save"),
    ],
)
def test_missing_names_say_what_was_meant(path, says):
    *spaces, name = path.split(".")
    here = tf
    for space in spaces:
        here = getattr(here, space)
    with pytest.raises(AttributeError) as caught:
        getattr(here, name)
    assert str(caught.value).startswith(f"module 'ebbflow' has no attribute '{path}'; {says}")


def test_a_name_like_nothing_gets_no_guess():
    with pytest.raises(AttributeError, match=r"^module 'ebbflow' has no attribute 'qqzzxx'$"):
        _ = tf.qqzzxx


def test_a_missing_name_is_an_ordinary_attribute_error():
    assert not hasattr(tf, "no_such_name_at_all")
    assert getattr(tf, "no_such_name_at_all", 7) == 7
    with pytest.raises(AttributeError) as caught:
        _ = tf.no_such_name_at_all
    assert type(caught.value).__name__ == "AttributeError"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is AttributeError and str(again) == str(caught.value)


def test_asking_for_a_missing_name_makes_no_guess_until_read(monkeypatch):
    monkeypatch.setattr("ebbflow.api.suggest.advice", lambda *args: pytest.fail("guessed though nobody read"))
    assert not hasattr(tf, "no_such_name_at_all")


@pytest.mark.parametrize("name", ["ebbflow.no_such_space", "ebbflow.nn.no_such_space", "ebbflow.compat.v3"])
def test_missing_namespaces_do_not_import(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)
    assert importlib.util.find_spec("ebbflow.nn") is not None


def test_a_name_that_is_a_module_imports_as_one():
    raw_ops = importlib.import_module("ebbflow.raw_ops")
    assert raw_ops is tf.raw_ops
    assert importlib.import_module("ebbflow.compat.v1.raw_ops") is raw_ops
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("ebbflow.float32")


def test_reload_is_harmless():
    before = tf.float32
    assert importlib.reload(tf) is tf
    importlib.reload(tf.errors)
    assert tf.float32 is before
    assert tf.errors.NotFoundError is sys.modules["ebbflow.core.errors"].NotFoundError


def test_a_room_and_a_namespace_share_a_path():
    room = importlib.import_module("ebbflow.io")
    assert room is tf.io
    assert room.gfile.GFile is tf.io.gfile.GFile
    assert room.__file__.endswith("__init__.py")
    importlib.import_module("ebbflow.io.records")
    assert tf.io.gfile.GFile is not None


def test_namespaces_and_rooms_do_not_disagree():
    """A name that a shared room has itself must be the one its table says."""
    shown = views.view("v2")
    for path, names in shown.spaces.items():
        module = sys.modules.get(f"ebbflow.{path}") if path else None
        if module is None or not getattr(module, "__file__", None):
            continue
        for name, target in names.items():
            if name in vars(module) and target is not None:
                value = vars(module)[name]  # once there are dispatchers, a function that asks them stands for it
                assert getattr(value, dispatch.INNER, value) is namespace.resolve(target), f"ebbflow.{path}.{name}"


def test_many_threads_may_ask_at_once():
    found, start = [], threading.Barrier(8)

    def ask():
        start.wait()
        found.append(importlib.import_module("ebbflow.compat.v1.errors").DataLossError)

    sys.modules.pop("ebbflow.compat.v1.errors", None)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [tf.errors.DataLossError] * 8


def test_the_first_door_changes_the_manners_and_compat_does_not():
    code = (
        "import ebbflow.compat.v1; from ebbflow.core import context; print(context.switches.eager_by_default)\n"
        "import ebbflow.v1 as tf; print(context.switches.eager_by_default, tf.executing_eagerly())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False", "False"]
    assert run.stderr == ""


def test_importing_loads_no_numpy_and_no_room():
    code = "import sys, ebbflow; print([m for m in sys.modules if m[:5] == 'numpy' or m[:8] == 'ebbflow.'])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = eval(run.stdout)
    assert loaded and all(name.startswith("ebbflow.api") for name in loaded)
    assert "ebbflow.api.tables" not in loaded
    assert run.stderr == ""


def test_what_runs_once_loads_no_compiler():
    code = (
        "import sys, ebbflow as tf\nv = tf.Variable(2.0)\nwith tf.GradientTape() as tape: y = v * v\n"
        "print(float(tape.gradient(y, v)), float(tf.function(lambda x: x + v)(1.0)))\n"
        "print([m for m in sys.modules if m.startswith(('ebbflow.compiler.passes', 'ebbflow.engines.native', 'jax'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["4.0 3.0", "[]"], run.stdout


FIRST = ["device('/cpu:0')", "name_scope('a')", "control_dependencies([])", "variable_scope('a')", "init_scope()"]


@pytest.mark.parametrize("scope", FIRST)
def test_a_scope_may_be_the_first_thing_of_a_graph_program(scope):
    code = f"import ebbflow.v1 as tf\nwith tf.{scope}:\n    print(tf.constant(1.0).graph is tf.get_default_graph())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_a_walk_over_a_namespace_meets_every_name(v1):
    cells = [
        c for c in v1.contrib.rnn.__dict__.values() if inspect.isclass(c) and issubclass(c, v1.nn.rnn_cell.RNNCell)
    ]
    assert {v1.nn.rnn_cell.GRUCell, v1.contrib.rnn.UGRNNCell} <= set(cells)
    names = vars(v1.train)
    assert names["AdamOptimizer"] is v1.train.AdamOptimizer and "Nothing" not in names
    assert set(dir(v1.train)) <= set(names) == set(names.copy())
    names["mine"] = 1
    assert v1.train.mine == 1
    del names["mine"]
    assert not hasattr(v1.train, "mine")
