"""The stubs that editors read: every public name is in them, and mypy knows a program's types by them."""

from __future__ import annotations

import ast
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import ebbflow
from ebbflow.api import views

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "stubs.py"
PROGRAM = """
import ebbflow as tf
import ebbflow.v1 as tf1
from ebbflow import nn

a = tf.constant([[1.0, 2.0]])
reveal_type(tf.matmul(a, a, transpose_b=True))
reveal_type(tf.reduce_sum(nn.relu(a) * 2))
reveal_type(tf1.reduce_sum(a, reduction_indices=0))
reveal_type(tf.float32)
reveal_type(tf.Variable(1.0))
reveal_type(tf.compat.v1.GraphDef())
tf.add(tf.Variable(2.0), 1)
tf.matmul(a, a, transpose_c=True)
tf.matmul(object(), a)
tf.no_such_name
"""
SEEN = """
7: note: Revealed type is "ebbflow.core.tensor.Tensor"
8: note: Revealed type is "ebbflow.core.tensor.Tensor"
9: note: Revealed type is "ebbflow.core.tensor.Tensor"
10: note: Revealed type is "ebbflow.core.dtypes.DType"
11: note: Revealed type is "ebbflow.state.base.Variable"
12: note: Revealed type is "ebbflow._messages.GraphDef"
14: error: Unexpected keyword argument "transpose_c" for "matmul"
15: error: Argument 1 to "matmul" has incompatible type "object"
16: error: Module has no attribute "no_such_name"
""".strip().splitlines()


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("stubs", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files(tool):
    return tool.Writer().write()


def test_every_public_name_is_in_the_stub_of_its_namespace(tool, files):
    for key, module in tool.DOORS.items():
        for path, names in views.view(key).spaces.items():
            file = "/".join([*module.split(".")[1:], *path.split(".")] if path else module.split(".")[1:])
            text = files.get(f"{file}/__init__.pyi" if file else "__init__.pyi", "")
            if "import *" in text or path in views.SWITCHES or not text:
                continue
            listed = ast.literal_eval(text.partition("__all__ = ")[2])
            assert listed == sorted(names), f"{module}.{path}"


def test_what_has_no_stub_is_a_module_of_its_own(tool, files):
    for path in views.view("v2").spaces:
        if path and f"{path.replace('.', '/')}/__init__.pyi" not in files:
            assert (pathlib.Path(ebbflow.__file__).parent / f"{path.replace('.', '/')}.py").exists(), path


def test_every_stub_is_python(files):
    for path, text in files.items():
        if path.endswith(".pyi"):
            ast.parse(text, path)


def test_a_function_that_a_factory_makes_has_its_signature_and_docstring(tool):
    text, imports = tool.made_function("ops.elementwise.activations", "relu")
    assert text.startswith("def relu(features: TensorLike, name: str | None=None) -> Tensor:\n    'Return ")
    assert "from ebbflow.core.typing import TensorLike as TensorLike" in imports


def test_mypy_knows_the_types_of_a_program(tool, tmp_path):
    tool.main(tmp_path / "stubs" / "ebbflow")
    (tmp_path / "program.py").write_text(PROGRAM)
    home = pathlib.Path(ebbflow.__file__).parents[1]
    installed = (home / "ebbflow-stubs").is_dir() and home.name == "site-packages"  # mypy finds both by itself there
    path = "" if installed else f"{tmp_path / 'stubs'}{os.pathsep}{home}"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", "--follow-imports=silent",
         "--cache-dir", str(tmp_path / "cache"), "program.py"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": path},
    )  # fmt: skip
    said = [line.partition("program.py:")[2] for line in done.stdout.splitlines() if line.startswith("program.py:")]
    said = [line for line in said if "defined in" not in line]
    assert len(said) == len(SEEN), done.stdout + done.stderr
    for line, wanted in zip(said, SEEN, strict=True):
        assert line.startswith(wanted)


def test_a_folder_that_holds_something_else_is_left_alone(tool, tmp_path):
    (tmp_path / "py.typed").write_text("mine")
    with pytest.raises(SystemExit, match="does not hold stubs"):
        tool.main(tmp_path)
    assert (tmp_path / "py.typed").read_text() == "mine"
