"""Running a small program in every way it can be run, and comparing what comes out.

`@program(args, …)` puts a function into its module's table. `check` calls it plainly on eager tensors, then converted
on eager tensors, then converted in a graph with a session and, with unknown shapes too, by `tf.function`. All must
agree.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

import numpy as np

import ebbflow as tf
from ebbflow.functions.autograph import convert
from ebbflow.functions.autograph.lists import StagedList


class Table(list):
    """The programs of a module: functions with the arguments they are to be called with."""

    def program(self, *argument_lists: Any):
        """Put the decorated function into the table; each argument list is a tuple, or one argument."""

        def add(function: Any) -> Any:
            for given in argument_lists:
                self.append((function, given if isinstance(given, tuple) else (given,)))
            return function

        return add

    def ids(self) -> list[str]:
        return [f"{function.__name__}-{i}" for i, (function, _) in enumerate(self)]


def tensors(arguments: tuple[Any, ...]) -> list[Any]:
    """Numbers and arrays as eager tensors; anything else as it is."""
    return [tf.constant(a) if isinstance(a, (int, float, list, np.ndarray)) else a for a in arguments]


def plain(structure: Any) -> Any:
    """A result as plain arrays and numbers, for comparing."""
    if isinstance(structure, StagedList):
        structure = list(structure)
    if isinstance(structure, (list, tuple)):
        return [plain(item) for item in structure]
    if isinstance(structure, dict):
        return {key: plain(value) for key, value in structure.items()}
    return structure.numpy() if hasattr(structure, "numpy") else structure


def same(found: Any, expected: Any) -> None:
    """Compare results: structures, values to 1e-6, and that numbers are not mistaken for anything else."""
    found, expected = plain(found), plain(expected)
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            same(f, e)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif expected is None:
        assert found is None
    elif isinstance(expected, (str, bytes)):
        assert found in (expected, expected.encode() if isinstance(expected, str) else expected)
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-5, atol=1e-6)


def in_session(function: Any, arguments: tuple[Any, ...]) -> Any:
    """What the converted function gives in a plain graph, fed through placeholders."""
    with tf.Graph().as_default():
        given, feeds = [], {}
        for value in arguments:
            if isinstance(value, (int, float, list, np.ndarray)):
                array = np.asarray(tf.constant(value).numpy()) if tf.executing_eagerly() else _array(value)
                holder = tf.compat.v1.placeholder(tf.as_dtype(array.dtype), array.shape)
                feeds[holder] = array
                value = holder
            given.append(value)
        result = convert(function)(*given)
        leaves = tf.nest.flatten(result, expand_composites=False)
        leaves = [tf.convert_to_tensor(leaf) if isinstance(leaf, StagedList) else leaf for leaf in leaves]
        fetched = [leaf for leaf in leaves if isinstance(leaf, tf.Tensor)]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            values = iter(session.run(fetched, feeds) if fetched else [])
        leaves = [next(values) if isinstance(leaf, tf.Tensor) else leaf for leaf in leaves]
        if isinstance(result, StagedList):
            return list(leaves[0])
        return tf.nest.pack_sequence_as(result, leaves)


def _array(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))


def as_function(function: Any, arguments: tuple[Any, ...], known_shapes: bool) -> Any:
    """What `tf.function` of the function gives, with the shapes of its tensors known or not."""
    given = tensors(arguments)
    if known_shapes:
        return tf.function(function)(*given)
    specs = [
        tf.TensorSpec([None] * a.shape.rank, a.dtype) if isinstance(a, tf.Tensor) and a.shape.rank else a for a in given
    ]
    concrete = tf.function(function).get_concrete_function(*specs)
    return concrete(*[a for a in given if isinstance(a, tf.Tensor)])


def compares(code: CodeType) -> bool:
    """Whether code, or code inside it, has `==` or `!=`."""
    inside = any(compares(c) for c in code.co_consts if isinstance(c, CodeType))
    return inside or any(
        i.opname == "COMPARE_OP" and i.argval.removeprefix("bool(").removesuffix(")") in ("==", "!=")
        for i in dis.get_instructions(code)
    )


def check(function: Any, arguments: tuple[Any, ...]) -> None:
    """All ways of running a program must give what plain Python gives on eager tensors."""
    expected = function(*tensors(arguments))
    same(convert(function)(*tensors(arguments)), expected)
    if not compares(function.__code__):  # in a plain graph, `==` of tensors asks whether they are the same one
        same(in_session(function, arguments), expected)
    same(as_function(function, arguments, known_shapes=True), expected)
    if any(isinstance(a, (list, np.ndarray)) for a in arguments):
        same(as_function(function, arguments, known_shapes=False), expected)
