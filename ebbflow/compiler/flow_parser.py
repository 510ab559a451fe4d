"""Flows from text: what `flow_text` wrote, or a test did.

Types of inputs decide the attrs that ops infer from them; attrs that are left out have their defaults; shapes follow
from the ops' rules, and so do known values, as when a flow is built from a graph. An annotation says more than the rule
knows. Errors name the statement.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.build import infer
from ebbflow.compiler.flow import Flow, Node, Value, constant
from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.core.shape import Dims


class Named:
    """What a node of a flow from text stands for: a name only."""

    line = None

    def __init__(self, name: str):
        self.name = name
        self.original = self

    def __repr__(self) -> str:
        return f"<{self.name}>"


def parse(text: str) -> Flow:
    """Return the flow that a text spells out."""
    return _Reader({}).flow(ast.parse(inspect.cleandoc(text)).body, [])


class _Reader:
    """One flow on its way from statements."""

    def __init__(self, regions: dict[str, Flow]):
        self._values: dict[str, Value] = {}
        self._regions = dict(regions)
        self._flow = Flow([], [], [])

    def flow(self, statements: Sequence[ast.stmt], arguments: Sequence[ast.arg]) -> Flow:
        """Return the flow of statements, with arguments that are declared before them."""
        for argument in arguments:
            self._input(argument.arg, argument.annotation)
        for statement in statements:
            try:
                self._read(statement)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{ast.unparse(statement)}: {error}") from error
        return self._flow

    def _read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef(name=name, args=args, body=body):
                self._regions[name] = _Reader(self._regions).flow(body, args.args)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None):
                if name in self._values:
                    self._state(name, annotation)
                else:
                    self._input(name, annotation)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.Call() as call):
                self._node([name], call)
                self._state(name, annotation)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as literal):
                self._constant(name, annotation, literal)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                self._node([name], call)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call() as call):
                self._node([name.id for name in names if isinstance(name, ast.Name)], call)
            case ast.Expr(value=ast.Call(func=ast.Name(id="run"), args=[ast.Name(id=name)])):
                self._flow.roots.add(self._values[name].node)  # type: ignore[arg-type]
            case ast.Expr(value=ast.Call() as call):
                self._node([], call)
            case ast.Return(value=value):
                results = value.elts if isinstance(value, ast.Tuple) else [] if value is None else [value]
                self._flow.outputs = [self._values[ast.unparse(result)] for result in results]
            case _:
                raise ValueError("no statement of a flow")

    def _input(self, name: str, annotation: ast.expr | None) -> None:
        dtype, dims = _type(annotation)
        value = self._values[name] = Value(None, len(self._flow.inputs), dtype, dims)
        self._flow.inputs.append(value)

    def _state(self, name: str, annotation: ast.expr) -> None:
        """Take what is said of a value that is there."""
        value, (dtype, dims) = self._values[name], _type(annotation)
        if value.dtype is not dtype:
            raise ValueError(f"{name} is {value.dtype.name}, not {dtype.name}")
        value.dims = dims

    def _constant(self, name: str, annotation: ast.expr, literal: ast.expr) -> None:
        dtype, dims = _type(annotation)
        value = _literal(literal)
        if value is ...:
            raise ValueError("the elements of this constant were left out of the text")
        array = np.array(value, dtype.np)
        shape: Any = dims or ()
        array = np.full(shape, array, dtype.np) if array.shape == () else array.reshape(shape)
        self._add([name], constant(array, dtype, Named(name)))

    def _node(self, names: Sequence[str], call: ast.Call) -> None:
        op = _op(ast.unparse(call.func))
        groups = [self._operand(argument) for argument in call.args]
        if len(groups) != len(op.signature.inputs):
            raise ValueError(f"{op.name} takes {[a.name for a in op.signature.inputs]}")
        attrs = {name: attr.default for name, attr in op.signature.attrs.items() if attr.has_default}
        attrs |= {str(k.arg): self._attr(k.value) for k in call.keywords}
        attrs |= _inferred(op, groups)
        inputs = [v for group in groups for v in (group if isinstance(group, list) else [group])]
        node = Node(op, inputs, attrs, Named(names[0] if names else op.name))
        node.outputs = [Value(node, i, t, None) for i, t in enumerate(op.flat_output_types(attrs))]
        infer(node)
        self._add(names, node)

    def _add(self, names: Sequence[str], node: Node) -> None:
        self._flow.nodes.append(node)
        self._values.update(zip(names, node.outputs, strict=True))

    def _operand(self, argument: ast.expr) -> Any:
        if isinstance(argument, ast.List):
            return [self._values[ast.unparse(item)] for item in argument.elts]
        return self._values[ast.unparse(argument)]

    def _attr(self, value: ast.expr) -> Any:
        match value:
            case ast.Name(id=name) if name in self._regions:
                return self._regions[name]
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return tuple(self._attr(item) for item in items)
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                return {str(k.arg): self._attr(k.value) for k in keywords}
            case ast.Name(id=name) if name not in ("inf", "nan"):
                return dtypes.as_dtype(name)
        return _literal(value)


def _op(name: str) -> Op:
    return registry.internal[name] if name in registry.internal else registry[name]


def _inferred(op: Op, groups: Sequence[Any]) -> dict[str, Any]:
    """Return the attrs that the inputs decide."""
    attrs: dict[str, Any] = {}
    for arg, group in zip(op.signature.inputs, groups, strict=True):
        values = group if isinstance(group, list) else [group]
        if arg.number_attr is not None:
            attrs[arg.number_attr] = len(values)
        if arg.type_attr is not None:
            types = tuple(v.dtype.base_dtype for v in values)
            attrs.update({arg.type_attr: types} if arg.is_type_list else dict.fromkeys([arg.type_attr], *types[:1]))
    return attrs


def _type(annotation: ast.expr | None) -> tuple[DType, Dims]:
    match annotation:
        case ast.Name(id=name):
            return dtypes.as_dtype(name), None
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            dims = ast.literal_eval(index)
            return dtypes.as_dtype(name), dims if isinstance(dims, tuple) else (dims,)
    raise ValueError("a type is written float32[4, None]")


def _literal(value: ast.expr) -> Any:
    """Return a literal's value; `inf` and `nan` are numbers too."""
    names = {"inf": float("inf"), "nan": float("nan")}
    match value:
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_literal(operand)
        case ast.List(elts=items):
            return [_literal(item) for item in items]
    return ast.literal_eval(value)
