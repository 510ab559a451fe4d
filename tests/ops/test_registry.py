"""Walks the registry: every op is declared as TensorFlow declares it, and nothing about it was forgotten."""

from __future__ import annotations

import pathlib

import pytest

import ebbflow.ops.foundation  # noqa: F401  (operators)
from ebbflow.core.registry import registry
from ebbflow.core.signature import Signature, parse

GOLDEN = pathlib.Path(__file__).parent.parent / "golden"
SIGNATURES = [GOLDEN / release / "op_signatures.txt" for release in ("tf221", "tf115")]
"""Of TensorFlow 2.21, and of families of `tf.contrib` that were gone by then."""


def recorded() -> dict[str, str]:
    texts = [line.rstrip("\n") for path in SIGNATURES for line in path.read_text().splitlines()]
    lines = [line for line in texts if line and not line.startswith("#")]
    return {line[: line.index("(")]: line for line in lines if ">" not in line[: line.index("(")]}  # test namespaces


def comparable(signature: Signature) -> tuple:
    attrs = {
        name: (a.kind, None if a.allowed is None else frozenset(a.allowed), a.minimum, a.default, a.has_default)
        for name, a in signature.attrs.items()
    }
    return signature.inputs, signature.outputs, attrs, list(signature.attrs), signature.flags


def test_every_recorded_line_can_be_read():
    for name, line in recorded().items():
        assert parse(line).name == name


def test_declarations_are_tensorflows():
    lines = recorded()
    unknown = sorted(name for name in registry.names() if name not in lines)
    assert not unknown, f"ops that TensorFlow does not have: {unknown}"
    wrong = [
        f"{op.text}\n  TensorFlow: {lines[name]}"
        for name, op in sorted(registry.declare_all().items())
        if comparable(op.signature) != comparable(parse(lines[name]))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_wrong_declaration_is_noticed():
    line = recorded()["BiasAdd"]
    assert comparable(parse(line)) != comparable(parse(line.replace('= "NHWC"', '= "NCHW"')))
    assert comparable(parse(line)) != comparable(parse(line.replace("bias:T", "biases:T")))


@pytest.mark.parametrize("what", ["kernel_fn", "shape_fn", "gradient_fn"])
def test_nothing_is_left_out(what):
    missing = sorted(name for name, op in registry.declare_all().items() if getattr(op, what) is None)
    assert not missing, f"ops without a {what.removesuffix('_fn')}: {missing}"
