"""Loops written in Python (`core.loops`) in LLVM's language.

Understood are: numbers (`int` is 64 bits and wraps round, `u64` the same without a sign, `f32`, `f64`, truths), arrays
of the annotated dtypes (whole numbers below 64 bits become `int` when read), texts, `if`, `while`, `for … in range(…)`,
`break`, `continue`, `return`, assignments, arithmetic and comparisons of one kind of number, `and`, `or`, `not`,
conditional expressions, `min`, `max`, `abs`, `sqrt`, `floor`, `ceil`, `rint`, some of the C library's (`FROM_C`), the
engine's own (`v_tanh`), `len` of a text, the casts `int`, `f32`, `f64`, `u64`, constants of the module, and calls of
other annotated functions beside it. Constants take the kind of what they meet; other kinds must be cast. `//` and `%`
are for whole numbers that are not negative. A variable has one kind.

What else is written raises a TypeError with its line, when the code is made: tests make the code of every loop.
"""

from __future__ import annotations

import ast
import inspect
import struct
import textwrap
from collections.abc import Callable
from typing import Any

from ebbflow.core import loops
from ebbflow.engines.native import kernel

LLVM = {"int": "i64", "u64": "i64", "f32": "float", "f64": "double", "bool": "i1", "Text": "ptr", "None": "void"}
ELEMENTS = {
    "F16": ("half", "f32", "fpext"),
    "F32": ("float", "f32", ""), "F64": ("double", "f64", ""), "I32": ("i32", "int", "sext"), "I64": ("i64", "int", ""),
    "U8": ("i8", "int", "zext"), "U32": ("i32", "int", "zext"), "U64": ("i64", "u64", ""), "Texts": ("ptr", "Text", ""),
}  # fmt: skip
"""Of each kind of array: what lies in memory, which kind of number it is, and how it is widened."""

SIZE, BYTES, TYPE = 16, 32, 8
"""Where a bytes object has its length, its first byte and its type."""

_WHOLE = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.Mod: "srem", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_UNSIGNED = {**_WHOLE, ast.FloorDiv: "udiv", ast.Mod: "urem", ast.RShift: "lshr"}
_FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_ANNOTATIONS = {"float": "f64", "Word": "u64", "Single": "f32"}

Value = tuple[str, str]
"""A kind of number, and its name in LLVM's language."""


def text(loop: loops.Loop) -> str:
    """Return the module of a loop, whose function is called `entry`."""
    module = _Module()
    module.add(loop.function, "entry", "")
    declared = [line for line in DECLARED if line.partition("@")[2].partition("(")[0] not in module.own]
    return "\n".join([*declared, *module.own.values(), *module.functions])


FROM_C = {"exp": 1, "log": 1, "log1p": 1, "sin": 1, "cos": 1, "lgamma": 1, "pow": 2, "fmod": 2}
"""Functions of the C library that loops may call, each with the number of its arguments."""

DECLARED = [
    "declare ptr @PyBytes_FromStringAndSize(ptr, i64)",
    "declare void @Py_IncRef(ptr)",
    "declare void @Py_DecRef(ptr)",
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "declare float @llvm.sqrt.f32(float)",
    "declare double @llvm.sqrt.f64(double)",
    "declare float @llvm.fabs.f32(float)",
    "declare double @llvm.fabs.f64(double)",
    "declare float @llvm.floor.f32(float)",
    "declare double @llvm.floor.f64(double)",
    "declare float @llvm.ceil.f32(float)",
    "declare double @llvm.ceil.f64(double)",
    "declare float @llvm.rint.f32(float)",
    "declare double @llvm.rint.f64(double)",
    *(f"declare double @{name}({', '.join(['double'] * count)})" for name, count in FROM_C.items()),
    "@bytes = external global i8",
]
"""What loops may call: those of these that an engine's own functions declare, too, are declared by them."""


def signature(function: Callable[..., Any]) -> tuple[list[str], str]:
    """Return the kinds of a function's arguments, and of its result."""
    tree = _tree(function)
    return [_annotated(a.annotation) for a in tree.args.args], _annotated(tree.returns)


def _tree(function: Callable[..., Any]) -> ast.FunctionDef:
    source = getattr(function, "source", None) or inspect.getsource(function)
    tree = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _annotated(node: ast.expr | None) -> str:
    name = ast.unparse(node) if node is not None else "None"
    name = _ANNOTATIONS.get(name, name).rpartition(".")[2]
    if name not in LLVM and name not in ELEMENTS:
        raise TypeError(f"a loop's argument cannot be annotated as {name}")
    return name


class _Module:
    """The functions of one loop."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.own: dict[str, str] = {}
        self._names: dict[Any, str] = {}

    def add(self, function: Callable[..., Any], name: str, linkage: str = "internal ") -> str:
        self._names[function] = name
        self.functions.append(_Function(self, function, name, linkage).written())
        return name

    def name_of(self, function: Callable[..., Any]) -> str:
        return self._names.get(function) or self.add(function, f"f{len(self._names)}")


class _Function:
    """One function being written."""

    def __init__(self, module: _Module, function: Callable[..., Any], name: str, linkage: str):
        self.module, self.name, self.linkage = module, name, linkage
        self.tree = _tree(function)
        self.globals = function.__globals__
        self.kinds, self.result = signature(function)
        self.variables: dict[str, Value] = {}
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.counter = 0
        self.around: list[tuple[str, str]] = []  # of each loop: where `continue` and `break` lead
        self.open = True  # whether the block at hand has not ended yet

    def written(self) -> str:
        taken = []
        for argument, kind in zip(self.tree.args.args, self.kinds, strict=True):
            name = argument.arg
            if kind in ELEMENTS:
                taken.append(f"ptr noalias %a.{name}")
                self.variables[name] = kind, f"%a.{name}"
            else:
                taken.append(f"{LLVM[kind]} %a.{name}")
                self.do(f"store {LLVM[kind]} %a.{name}, ptr {self.slot(name, kind)}")
        self.block(self.tree.body)
        if self.open:
            self.do("ret void" if self.result == "None" else "unreachable")
        head = f"define {self.linkage}{LLVM[self.result]} @{self.name}({', '.join(taken)}) nounwind {{"
        return "\n".join([head, "entry:", *self.slots, *self.lines, "}"])

    # --- instructions -------------------------------------------------------------------------------------------------

    def fresh(self, stem: str = "v") -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def do(self, line: str) -> None:
        if self.open:
            self.lines.append(f"  {line}")

    def __call__(self, line: str) -> str:
        name = f"%{self.fresh()}"
        self.do(f"{name} = {line}")
        return name

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")
        self.open = False

    def branch(self, flag: str, yes: str, no: str) -> None:
        self.do(f"br i1 {flag}, label %{yes}, label %{no}")
        self.open = False

    def begin(self, label: str) -> None:
        if self.open:
            self.jump(label)
        self.lines.append(f"{label}:")
        self.open = True

    def slot(self, name: str, kind: str) -> str:
        """Return where a variable lies, which begins here or has this kind."""
        if name not in self.variables:
            place = f"%s.{name}"
            self.variables[name] = kind, place
            self.slots.append(f"  {place} = alloca {LLVM[kind]}")
        known, place = self.variables[name]
        if known != kind:
            raise TypeError(f"{name} is {known} and becomes {kind} in {self.tree.name}")
        return place

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:
                break
            write = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if write is None:
                raise self.unknown(statement)
            write(statement)

    def unknown(self, node: ast.AST) -> TypeError:
        line = getattr(node, "lineno", 0)
        return TypeError(f"a loop cannot have this (line {line} of {self.tree.name}): {ast.unparse(node)}")

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.value(node.value)

    def _assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            assert isinstance(node.value, ast.Tuple)
            values = [self.value(v) for v in node.value.elts]
            for one, value in zip(target.elts, values, strict=True):
                self.store(one, value)
        else:
            self.store(target, self.wanted(node.value, target))

    def _augassign(self, node: ast.AugAssign) -> None:
        old = self.value(node.target)
        self.store(node.target, self.arithmetic(node.op, old, self.value(node.value, old[0]), node))

    def wanted(self, node: ast.expr, target: ast.expr) -> Value:
        """Return a value in the kind of what it is stored in, where that is known."""
        kind = None
        if isinstance(target, ast.Name) and target.id in self.variables:
            kind = self.variables[target.id][0]
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            array = self.variables[target.value.id][0]
            kind = ELEMENTS[array][1] if array in ELEMENTS else "int"
        return self.value(node, kind)

    def store(self, target: ast.expr, value: Value) -> None:
        kind, name = value
        if isinstance(target, ast.Name):
            self.do(f"store {LLVM[kind]} {name}, ptr {self.slot(target.id, kind)}")
            return
        if not isinstance(target, ast.Subscript):
            raise self.unknown(target)
        stored, element, place = self.element(target)
        if element != kind:
            raise TypeError(f"{ast.unparse(target)} is {element}, not {kind}")
        if kind == "Text":
            old = self(f"load ptr, ptr {place}")
            self.do(f"store ptr {name}, ptr {place}")
            self.do(f"call void @Py_DecRef(ptr {old})")
            return
        if stored != LLVM[kind]:
            name = self(f"{'fptrunc' if kind == 'f32' else 'trunc'} {LLVM[kind]} {name} to {stored}")
        self.do(f"store {stored} {name}, ptr {place}")

    def element(self, node: ast.Subscript) -> tuple[str, str, str]:
        """Return how an element lies in memory, its kind, and where it is."""
        index = self.value(node.slice, "int")[1]
        kind, name = self.value(node.value)
        if kind == "Text":
            bytes = self(f"getelementptr i8, ptr {name}, i64 {BYTES}")
            return "i8", "int", self(f"getelementptr i8, ptr {bytes}, i64 {index}")
        if kind not in ELEMENTS:
            raise self.unknown(node)
        stored, element, _ = ELEMENTS[kind]
        return stored, element, self(f"getelementptr {stored}, ptr {name}, i64 {index}")

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.do("ret void")
        else:
            kind, name = self.value(node.value, self.result)
            self.do(f"ret {LLVM[kind]} {name}")
        self.open = False

    def _if(self, node: ast.If) -> None:
        yes, no, after = self.fresh("yes"), self.fresh("no"), self.fresh("after")
        self.branch(self.truth(node.test), yes, no)
        self.begin(yes)
        self.block(node.body)
        if self.open:
            self.jump(after)
        self.begin(no)
        self.block(node.orelse)
        if self.open:
            self.jump(after)
        self.begin(after)

    def _while(self, node: ast.While) -> None:
        head, inside, done = self.fresh("head"), self.fresh("inside"), self.fresh("done")
        self.begin(head)
        self.branch(self.truth(node.test), inside, done)
        self.begin(inside)
        self.around.append((head, done))
        self.block(node.body)
        self.around.pop()
        if self.open:
            self.jump(head)
        self.begin(done)

    def _for(self, node: ast.For) -> None:
        if not (isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"):
            raise self.unknown(node)
        bounds = [self.value(a, "int")[1] for a in node.iter.args]
        first, last = ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else "1"
        assert isinstance(node.target, ast.Name)
        place, own = self.slot(node.target.id, "int"), f"%{self.fresh('at')}"
        self.slots.append(f"  {own} = alloca i64")
        head, inside, latch, done = (self.fresh(stem) for stem in ("head", "inside", "latch", "done"))
        self.do(f"store i64 {first}, ptr {own}")
        self.begin(head)
        index = self(f"load i64, ptr {own}")
        goes_down = isinstance(node.iter.args[-1], ast.UnaryOp) and len(bounds) == 3
        self.branch(self(f"icmp {'sgt' if goes_down else 'slt'} i64 {index}, {last}"), inside, done)
        self.begin(inside)
        self.do(f"store i64 {index}, ptr {place}")
        self.around.append((latch, done))
        self.block(node.body)
        self.around.pop()
        self.begin(latch)
        self.do(f"store i64 {self(f'add nsw i64 {index}, {step}')}, ptr {own}")
        self.jump(head)
        self.begin(done)

    def _break(self, node: ast.Break) -> None:
        self.jump(self.around[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self.jump(self.around[-1][0])

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, kind: str | None = None) -> Value:
        """Return a value; a constant takes the kind that is wanted."""
        if isinstance(node, ast.Constant):
            return constant(node.value, kind)
        if isinstance(node, ast.Name):
            return self.named(node, kind)
        if isinstance(node, ast.Subscript):
            stored, element, place = self.element(node)
            name = self(f"load {stored}, ptr {place}")
            return element, self.widened(node, name, stored, element)
        if isinstance(node, ast.BinOp):
            return self.arithmetic(node.op, *self.pair(node.left, node.right, kind), node)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node, kind)
        if isinstance(node, ast.Compare | ast.BoolOp):
            return "bool", self.truth(node)
        if isinstance(node, ast.IfExp):
            return self.conditional(node, kind)
        if isinstance(node, ast.Call):
            return self.call(node, kind)
        raise self.unknown(node)

    def widened(self, node: ast.Subscript, name: str, stored: str, element: str) -> str:
        if stored == LLVM[element]:
            return name
        array = self.value(node.value)[0]
        how = "zext" if array == "Text" else ELEMENTS[array][2]
        return self(f"{how} {stored} {name} to {LLVM[element]}")

    def named(self, node: ast.Name, kind: str | None) -> Value:
        if node.id in self.variables:
            known, place = self.variables[node.id]
            return (known, place) if known in ELEMENTS else (known, self(f"load {LLVM[known]}, ptr {place}"))
        if node.id not in self.globals:
            raise self.unknown(node)
        return constant(self.globals[node.id], kind)

    def pair(self, left: ast.expr, right: ast.expr, kind: str | None) -> tuple[Value, Value]:
        """Return two values of one kind: the one that is no constant says which."""
        if self.is_constant(left) and not self.is_constant(right):
            second = self.value(right, kind)
            return self.value(left, second[0]), second
        first = self.value(left, kind)
        return first, self.value(right, first[0])

    def is_constant(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp):
            return self.is_constant(node.operand)
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in self.variables)

    def arithmetic(self, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        kind = left[0]
        known: dict[Any, str] = {"int": _WHOLE, "u64": _UNSIGNED, "f32": _FLOATS, "f64": _FLOATS}.get(kind, {})
        if kind != right[0] or type(op) not in known:
            raise TypeError(f"{kind} and {right[0]} in {ast.unparse(node)} of {self.tree.name}")
        return kind, self(f"{known[type(op)]} {LLVM[kind]} {left[1]}, {right[1]}")

    def unary(self, node: ast.UnaryOp, kind: str | None) -> Value:
        if isinstance(node.op, ast.Not):
            return "bool", self(f"xor i1 {self.truth(node.operand)}, true")
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return constant(-node.operand.value, kind)  # type: ignore[operator]
        found, name = self.value(node.operand, kind)
        if isinstance(node.op, ast.Invert):
            return found, self(f"xor i64 {name}, -1")
        if found in ("f32", "f64"):
            return found, self(f"fneg {LLVM[found]} {name}")
        return found, self(f"sub i64 0, {name}")

    def truth(self, node: ast.expr) -> str:
        """Return a truth; of `and` and `or`, what need not be looked at is not."""
        if isinstance(node, ast.BoolOp):
            place, done = f"%{self.fresh('t')}", self.fresh("known")
            self.slots.append(f"  {place} = alloca i1")
            for part in node.values:
                flag, more = self.truth(part), self.fresh("more")
                self.do(f"store i1 {flag}, ptr {place}")
                self.branch(flag, *((more, done) if isinstance(node.op, ast.And) else (done, more)))
                self.begin(more)
            self.begin(done)
            return self(f"load i1, ptr {place}")
        if isinstance(node, ast.Compare):
            if len(node.ops) != 1:
                raise self.unknown(node)
            return self.compared(node)
        kind, name = self.value(node, "bool")
        if kind != "bool":
            raise TypeError(f"{ast.unparse(node)} of {self.tree.name} is {kind}, no truth")
        return name

    def compared(self, node: ast.Compare) -> str:
        (kind, left), (other, right) = self.pair(node.left, node.comparators[0], None)
        word = _COMPARISONS.get(type(node.ops[0]))
        if kind != other or word is None:
            raise TypeError(f"{kind} and {other} in {ast.unparse(node)} of {self.tree.name}")
        if kind in ("f32", "f64"):
            return self(f"fcmp {'une' if word == 'ne' else f'o{word}'} {LLVM[kind]} {left}, {right}")
        sign = "" if word in ("eq", "ne") else "u" if kind in ("u64", "bool") else "s"
        return self(f"icmp {sign}{word} {LLVM[kind]} {left}, {right}")

    def conditional(self, node: ast.IfExp, kind: str | None) -> Value:
        flag = self.truth(node.test)
        yes, no, after = self.fresh("yes"), self.fresh("no"), self.fresh("after")
        place = f"%{self.fresh('c')}"
        if kind is None and self.is_constant(node.body):
            kind = self.kind_of(node.orelse)
        self.branch(flag, yes, no)
        self.begin(yes)
        kind, name = self.value(node.body, kind)
        self.slots.append(f"  {place} = alloca {LLVM[kind]}")
        self.do(f"store {LLVM[kind]} {name}, ptr {place}")
        self.jump(after)
        self.begin(no)
        other, name = self.value(node.orelse, kind)
        if other != kind:
            raise TypeError(f"{kind} and {other} in {ast.unparse(node)} of {self.tree.name}")
        self.do(f"store {LLVM[kind]} {name}, ptr {place}")
        self.begin(after)
        return kind, self(f"load {LLVM[kind]}, ptr {place}")

    def kind_of(self, node: ast.expr) -> str:
        """Return the kind of a value, without its instructions staying."""
        lines, slots, count, open = list(self.lines), list(self.slots), self.counter, self.open
        kind = self.value(node)[0]
        self.lines, self.slots, self.counter, self.open = lines, slots, count, open
        return kind

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call, kind: str | None) -> Value:
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in ("int", "f32", "f64", "u64"):
            return self.cast(name, node.args[0])
        if name in ("min", "max"):
            return self.extreme(name, *self.pair(node.args[0], node.args[1], kind))
        if name in FROM_C:
            taken = ", ".join(f"double {self.value(a, 'f64')[1]}" for a in node.args)
            return "f64", self(f"call double @{name}({taken})")
        if name.startswith("v_"):
            return self.own_function(name[2:], node.args, kind)
        if name in ("abs", "sqrt", "floor", "ceil", "rint"):
            found, value = self.value(node.args[0], kind)
            which = {"abs": "fabs"}.get(name, name)
            return found, self(f"call {LLVM[found]} @llvm.{which}.{found}({LLVM[found]} {value})")
        special = getattr(self, f"call_{name}", None)
        if special is not None:
            return special(*[self.value(a, "int") for a in node.args])
        function = self.globals.get(name)
        if not callable(function):
            raise self.unknown(node)
        kinds, result = signature(function)
        values = [self.value(a, k) for a, k in zip(node.args, kinds, strict=True)]
        if [k for k, _ in values] != kinds:
            raise TypeError(f"{ast.unparse(node)} has {[k for k, _ in values]}, not {kinds}")
        taken = ", ".join(f"{'ptr' if k in ELEMENTS else LLVM[k]} {v}" for k, v in values)
        line = f"call {LLVM[result]} @{self.module.name_of(function)}({taken})"
        if result == "None":
            self.do(line)
            return "None", ""
        return result, self(line)

    def own_function(self, name: str, args: list[ast.expr], kind: str | None) -> Value:
        """Call a function of the engine's own, which a loop over vectors can be made of."""
        values = [self.value(args[0], kind)] if len(args) == 1 else list(self.pair(args[0], args[1], kind))
        found = values[0][0]
        self.module.own |= kernel.own_functions(name, found)
        taken = ", ".join(f"{LLVM[found]} {value}" for _, value in values)
        return found, self(f"call {LLVM[found]} @ebb.{name}.{found}({taken})")

    def cast(self, kind: str, node: ast.expr) -> Value:
        old, name = self.value(node, None if not self.is_constant(node) else kind)
        whole = ("int", "u64")
        if old == kind or (old in whole and kind in whole):
            return kind, name
        if old == "bool":
            name, old = self(f"zext i1 {name} to i64"), "int"
            if kind in whole:
                return kind, name
        if kind in whole:
            how = "fptosi"
        elif old in whole:
            how = "uitofp" if old == "u64" else "sitofp"
        else:
            how = "fpext" if kind == "f64" else "fptrunc"
        return kind, self(f"{how} {LLVM[old]} {name} to {LLVM[kind]}")

    def extreme(self, name: str, left: Value, right: Value) -> Value:
        """Return the lesser or greater of two: as in Python the first, unless the second is beyond it."""
        kind = left[0]
        word = "lt" if name == "min" else "gt"
        how = f"fcmp o{word}" if kind in ("f32", "f64") else f"icmp {'u' if kind == 'u64' else 's'}{word}"
        beyond = self(f"{how} {LLVM[kind]} {right[1]}, {left[1]}")
        return kind, self(f"select i1 {beyond}, {LLVM[kind]} {right[1]}, {LLVM[kind]} {left[1]}")

    def call_bits_of(self, of: Value) -> Value:
        return "int", self(f"sext i32 {self(f'bitcast float {of[1]} to i32')} to i64")

    def call_of_bits(self, bits: Value) -> Value:
        return "f32", self(f"bitcast i32 {self(f'trunc i64 {bits[1]} to i32')} to float")

    def call_len(self, of: Value) -> Value:
        return "int", self(f"load i64, ptr {self(f'getelementptr i8, ptr {of[1]}, i64 {SIZE}')}")

    def call_new_text(self, size: Value) -> Value:
        return "Text", self(f"call ptr @PyBytes_FromStringAndSize(ptr null, i64 {size[1]})")

    def call_is_missing(self, of: Value) -> Value:
        return "bool", self(f"icmp eq ptr {of[1]}, null")

    def call_kept(self, text: Value) -> Value:
        self.do(f"call void @Py_IncRef(ptr {text[1]})")
        return text

    def call_all_texts(self, texts: Value, n: Value) -> Value:
        name = self.module.name_of(_all_texts)
        return "bool", self(f"call i1 @{name}(ptr {texts[1]}, i64 {n[1]})")

    def call_is_text(self, of: Value) -> Value:
        type = self(f"load ptr, ptr {self(f'getelementptr i8, ptr {of[1]}, i64 {TYPE}')}")
        return "bool", self(f"icmp eq ptr {type}, @bytes")

    def call_copy_text(self, to: Value, at: Value, text: Value, begin: Value, count: Value) -> Value:
        target = self(f"getelementptr i8, ptr {self(f'getelementptr i8, ptr {to[1]}, i64 {BYTES}')}, i64 {at[1]}")
        source = self(f"getelementptr i8, ptr {self(f'getelementptr i8, ptr {text[1]}, i64 {BYTES}')}, i64 {begin[1]}")
        self.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {count[1]}, i1 false)")
        return "None", ""


def _all_texts(texts: loops.Texts, n: int) -> bool:
    i = 0
    while i < n and loops.is_text(texts[i]):
        i += 1
    return i >= n


def constant(value: Any, kind: str | None) -> Value:
    """Return a constant in the kind that is wanted, or its own."""
    if isinstance(value, bool):
        return "bool", "true" if value else "false"
    if not isinstance(value, int | float):
        raise TypeError(f"a loop cannot use {value!r}")
    if kind in ("int", "u64") or (kind not in ("f32", "f64") and isinstance(value, int)):
        if not isinstance(value, int):
            raise TypeError(f"{value} is no whole number")
        return kind if kind in ("int", "u64") else "int", str(value)
    kind = kind if kind in ("f32", "f64") else "f64"
    number = struct.unpack("f", struct.pack("f", value))[0] if kind == "f32" else float(value)
    return kind, f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"
