"""A region as a function of arrays: the checks in front, the code behind.

The function looks at every array it is given before it touches memory: that it is a plain array of the dtype and shape
the code was made for, without gaps (and may be written to, where it is a result). Where one is not, or where a guard of
the region speaks up, it returns False and nothing has happened; the caller does without. A region that changes nothing
but its results may also say in the end that these are not right (`Lowering.verdict`).
"""

from __future__ import annotations

import functools
import hashlib
import os
import weakref
from typing import Any

import numpy as np

from ebbflow.core import memory
from ebbflow.engines.native import (  # noqa: F401  (rows: all are declared)
    all_lowerings,
    library,
    symbols,
    threads,
)
from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.lowerings import elementwise
from ebbflow.engines.native.region_functions import Parts
from ebbflow.engines.native.text import ATTRIBUTES, TYPES, Body, finished
from ebbflow.engines.native.values import OPEN, Dims, scopes

LONG = 200_000
"""Work, in additions, from which on other threads of Python run meanwhile."""

SPARE = 1 << 24
MOST_SPARE = 1 << 29
"""Bytes of memory for the time of a call, from where and up to where it is left for the next one: the C library gives
back what is larger than 32 MB, and touching new pages takes as long as a product of small matrices.
"""

STOPPED = ("stopped", "")

SEVERAL = 16
"""Arrays from which on one function looks at each of them: looks written out one behind the other save some nanoseconds
each, and of a training step that takes a hundred arrays they took LLVM as long as the work.
"""

_calls: weakref.WeakValueDictionary[bytes, Any] = weakref.WeakValueDictionary()


def begin_again() -> None:
    """In a forked process, share nothing with regions of the process it comes from: see `_at_home`."""
    global _calls
    _calls = weakref.WeakValueDictionary()


class Kernel:
    """Machine code for a region: `call(*inputs, *outputs)` says whether it ran. Regions that are alike share it."""

    def __init__(self, region: Any):
        low = Lowering(region)
        self.work = low.work
        parts = Parts(low, threads.count())
        self.heeds = STOPPED in parts.needs  # whether it looks, now and then, if it should end
        self.text = _module(low, parts, len(region.inputs))
        key = _digest(self.text, low.constants)
        self.call = _calls.get(key)
        if self.call is None:
            self.call = _calls[key] = _loaded(self.text, parts.size if low.work < LONG else 0, low.constants)


def _digest(text: str, constants: list[np.ndarray]) -> bytes:
    """Return what tells code from other code in this process: the text says how large the constants are."""
    found = hashlib.sha256(text.encode())
    for array in constants:
        found.update(array.data)
    return found.digest()


def _loaded(text: str, scratch: int, constants: list[np.ndarray]) -> Any:
    """Return code as a function of Python, with the arrays that are its own."""
    # Short work keeps Python's lock, so that nobody else uses the scratch array meanwhile.
    own = {"scratch": memory.empty([scratch], np.uint8), "home": np.array(os.getpid(), np.int32)}
    own |= {f"known{i}": array for i, array in enumerate(constants)}
    code = library.Code(text, symbols.addresses() | {name: memory.address(array) for name, array in own.items()})
    return library.builtin(code, own)


def _module(low: Lowering, parts: Parts, inputs: int) -> str:
    taken = ", ".join(f"ptr {m.pointer}" for m in low.arguments)
    guard = Body()
    bad = "false"
    for look in low.guards:
        found = look(guard)
        bad = found if bad == "false" else guard(f"or i1 {bad}, {found}")
    return finished(
        [
            *parts.texts,
            f"define internal i1 @guard({taken}) {ATTRIBUTES} {{",
            "entry:",
            *guard.lines,
            f"  ret i1 {bad}",
            "}",
            *_entry(low, parts, inputs),
            *(_fits({m.dims for m in low.arguments}) if len(low.arguments) >= SEVERAL else []),
            *_declarations((parts.needs | guard.needs) - {STOPPED}),
            *(_stopped() if STOPPED in parts.needs else []),
            *symbols.declarations(),
            *threads.definitions(),
            f"@scratch = external global [{parts.size} x i8]",
            "@home = external global i32",
            *[f"@known{i} = external constant [{array.nbytes} x i8]" for i, array in enumerate(low.constants)],
        ],
        scopes(parts.scopes),
    )


def _entry(low: Lowering, parts: Parts, inputs: int) -> list[str]:
    """Return the function that Python calls."""
    count = len(low.arguments)
    lines = ["define ptr @entry(ptr %self, ptr %objects, i64 %count) nounwind {", "start:"]
    lines += [f"  %right = icmp eq i64 %count, {count}"]
    lines += _at_home() if threads.count() > 1 and low.work >= LONG else ["  br i1 %right, label %look0, label %refuse"]
    look = _looked_at if count < SEVERAL else _asked_about
    for i, taken in enumerate(low.arguments):
        lines += look(i, taken.kind, taken.dims, i >= inputs or taken.pointer in low.changed)
    given = "".join(f"ptr %data{i}, " for i in range(count))
    return [
        *lines,
        f"look{count}:",
        f"  %bad = call i1 @guard({given[:-2]})",
        "  br i1 %bad, label %refuse, label %run",
        "run:",
        *(_at_once(parts, given) if low.work < LONG else _alone(parts, given)),
        *(["  br i1 %spoilt, label %refuse, label %sound", "sound:"] if parts.verdict is not None else []),
        *(_raised() if STOPPED in parts.needs else []),
        "  %yes = call ptr @PyBool_FromLong(i64 1)",
        "  ret ptr %yes",
        "refuse:",
        "  %no = call ptr @PyBool_FromLong(i64 0)",
        "  ret ptr %no",
        "}",
    ]


def _at_home() -> list[str]:
    """Return the look whether this is the process whose threads the code calls: a forked one has none of them."""
    return [
        "  %process = call i32 @getpid()",
        "  %maker = load i32, ptr @home",
        "  %home = icmp eq i32 %process, %maker",
        "  %both = and i1 %right, %home",
        "  br i1 %both, label %look0, label %refuse",
    ]


def _judged(parts: Parts, scratch: str) -> list[str]:
    """Return the look at what the body says of its results."""
    if parts.verdict is None:
        return []
    return [
        f"  %verdictp = getelementptr i8, ptr {scratch}, i64 {parts.verdict}",
        "  %verdict = load float, ptr %verdictp",
        "  %spoilt = fcmp uno float %verdict, %verdict",
    ]


def _at_once(parts: Parts, given: str) -> list[str]:
    """Return the call of the body in the code's own memory."""
    return [f"  call void @body({given}ptr @scratch)", *_judged(parts, "@scratch")]


def _alone(parts: Parts, given: str) -> list[str]:
    """Return the call of the body without Python's lock, in memory of its own."""
    size = parts.size + 128
    keeps = SPARE <= size <= MOST_SPARE
    return [
        "  %thread = call ptr @PyEval_SaveThread()",
        *(_spare(size) if keeps else ["  br label %fresh"]),
        "fresh:",
        f"  %new = call ptr @PyMem_RawMalloc(i64 {size})",
        "  %none = icmp eq ptr %new, null",
        "  br i1 %none, label %full, label %sized",
        "full:",
        "  call void @PyEval_RestoreThread(ptr %thread)",
        "  br label %refuse",
        "sized:",
        f"  store i64 {size}, ptr %new",
        "  br label %go",
        "go:",
        f"  %taken = phi ptr [ %new, %sized ]{', [ %left, %enough ]' if keeps else ''}",
        "  %up = getelementptr i8, ptr %taken, i64 71",
        "  %near = call ptr @llvm.ptrmask.p0.i64(ptr %up, i64 -64)",
        f"  call void @body({given}ptr %near)",
        *_judged(parts, "%near"),
        *(_left_behind() if keeps else ["  call void @PyMem_RawFree(ptr %taken)"]),
        "  call void @PyEval_RestoreThread(ptr %thread)",
    ]


def _spare(size: int) -> list[str]:
    """Return the look for the memory that the last such call has left: new memory of this size would be zeroed.

    Its first number says how large it is. Whoever takes it leaves none, so that two threads never have the same.
    """
    return [
        f"  %spare = atomicrmw xchg ptr {symbols.SPARE}, i64 0 acq_rel",
        "  %is = icmp ne i64 %spare, 0",
        "  br i1 %is, label %enough, label %fresh",
        "enough:",
        "  %left = inttoptr i64 %spare to ptr",
        "  %room = load i64, ptr %left",
        f"  %fits = icmp uge i64 %room, {size}",
        "  br i1 %fits, label %go, label %drop",
        "drop:",
        "  call void @PyMem_RawFree(ptr %left)",
        "  br label %fresh",
    ]


def _left_behind() -> list[str]:
    """Return how memory is left for the next call; what another has left meanwhile goes."""
    return [
        "  %mine = ptrtoint ptr %taken to i64",
        f"  %others = atomicrmw xchg ptr {symbols.SPARE}, i64 %mine acq_rel",
        "  %other = inttoptr i64 %others to ptr",
        "  call void @PyMem_RawFree(ptr %other)",
    ]


def _raised() -> list[str]:
    """Return the look whether the body has ended before its time."""
    return [
        "  %error = call ptr @PyErr_Occurred()",
        "  %well = icmp eq ptr %error, null",
        "  br i1 %well, label %done, label %ended",
        "ended:",
        "  ret ptr null",
        "done:",
    ]


def _stopped() -> list[str]:
    """Return the function that says whether to end, with the error that tells why: a signal, a session that is closed.

    It takes Python's lock, and so may wait for it.
    """
    return [
        "define internal i1 @stopped() noinline cold nounwind {",
        "entry:",
        "  %state = call i32 @PyGILState_Ensure()",
        "  %signal = call i32 @PyErr_CheckSignals()",
        "  %quiet = icmp eq i32 %signal, 0",
        "  br i1 %quiet, label %look, label %end",
        "look:",
        f"  %answer = call ptr @PyObject_CallNoArgs(ptr {symbols.LOOK})",
        "  %none = icmp eq ptr %answer, null",
        "  br i1 %none, label %end, label %on",
        "on:",
        "  call void @Py_DecRef(ptr %answer)",
        "  br label %end",
        "end:",
        "  %stop = phi i1 [ true, %entry ], [ true, %look ], [ false, %on ]",
        "  call void @PyGILState_Release(i32 %state)",
        "  ret i1 %stop",
        "}",
    ]


def _looked_at(i: int, kind: str, dims: Dims, writes: bool) -> list[str]:
    """Return the look at one object: what is wrong is summed up, with one jump at the end."""
    flags = library.CONTIGUOUS | library.ALIGNED | (library.WRITEABLE if writes else 0)
    lines = [
        f"look{i}:",
        f"  %o{i}p = getelementptr ptr, ptr %objects, i64 {i}",
        f"  %o{i} = load ptr, ptr %o{i}p",
    ]

    def field(name: str, offset: int, type: str) -> str:
        lines.append(f"  %{name}{i}p = getelementptr i8, ptr %o{i}, i64 {offset}")
        lines.append(f"  %{name}{i} = load {type}, ptr %{name}{i}p")
        return f"%{name}{i}"

    lines.append(f"  %is{i} = icmp eq ptr {field('type', library.TYPE, 'ptr')}, {symbols.ARRAY}")
    lines += [f"  br i1 %is{i}, label %more{i}, label %refuse", f"more{i}:"]
    checks = [
        f"icmp eq ptr {field('dtype', library.DTYPE, 'ptr')}, {symbols.dtype_of(kind)}",
        f"icmp eq i32 {field('rank', library.RANK, 'i32')}, {len(dims)}",
    ]
    found = field("flags", library.FLAGS, "i32")
    lines.append(f"  %flagged{i} = and i32 {found}, {flags}")
    checks.append(f"icmp eq i32 %flagged{i}, {flags}")
    lines += [f"  %c{i}_{n} = {check}" for n, check in enumerate(checks)]
    lines += [f"  %d{i}_1 = and i1 %c{i}_0, %c{i}_1", f"  %d{i}_2 = and i1 %d{i}_1, %c{i}_2"]
    lines += [f"  br i1 %d{i}_2, label %shape{i}, label %refuse", f"shape{i}:"]
    data, shape = field("data", library.DATA, "ptr"), field("dims", library.DIMS, "ptr")
    right = "true"
    for n, length in enumerate(dims):
        if length == OPEN:
            continue
        lines += [
            f"  %e{i}_{n}p = getelementptr i64, ptr {shape}, i64 {n}",
            f"  %e{i}_{n} = load i64, ptr %e{i}_{n}p",
            f"  %f{i}_{n} = icmp eq i64 %e{i}_{n}, {length}",
            f"  %g{i}_{n} = and i1 {right}, %f{i}_{n}",
        ]
        right = f"%g{i}_{n}"
    assert data == f"%data{i}"
    return [*lines, f"  br i1 {right}, label %look{i + 1}, label %refuse"]


def _asked_about(i: int, kind: str, dims: Dims, writes: bool) -> list[str]:
    """Return the look at one object by the function that looks at them all."""
    flags = library.CONTIGUOUS | library.ALIGNED | (library.WRITEABLE if writes else 0)
    wanted = f"ptr {symbols.dtype_of(kind)}, i32 {len(dims)}, i32 {flags}, ptr {_named(dims)}"
    return [
        f"look{i}:",
        f"  %o{i}p = getelementptr ptr, ptr %objects, i64 {i}",
        f"  %o{i} = load ptr, ptr %o{i}p",
        f"  %fits{i} = call i1 @fits(ptr %o{i}, {wanted})",
        f"  br i1 %fits{i}, label %found{i}, label %refuse",
        f"found{i}:",
        f"  %data{i}p = getelementptr i8, ptr %o{i}, i64 {library.DATA}",
        f"  %data{i} = load ptr, ptr %data{i}p",
        f"  br label %look{i + 1}",
    ]


def _named(dims: Dims) -> str:
    return "@" + "_".join(["dims", *["open" if n == OPEN else str(n) for n in dims]])


def _fits(shapes: set[Dims]) -> list[str]:
    """Return the function that looks at an object: whether it is an array of a dtype, with such flags and dims."""
    lines = []
    for dims in sorted(shapes):
        lines.append(f"{_named(dims)} = internal constant [{len(dims)} x i64] [{', '.join(f'i64 {n}' for n in dims)}]")
    fields = [("dtype", library.DTYPE, "ptr"), ("rank", library.RANK, "i32"), ("flags", library.FLAGS, "i32")]
    return [
        *lines,
        "define internal i1 @fits(ptr %o, ptr %dtype, i32 %rank, i32 %flags, ptr %dims) noinline nounwind {",
        "entry:",
        f"  %typep = getelementptr i8, ptr %o, i64 {library.TYPE}",
        "  %type = load ptr, ptr %typep",
        f"  %is = icmp eq ptr %type, {symbols.ARRAY}",
        "  br i1 %is, label %array, label %no",
        "array:",
        *[f"  %{name}p = getelementptr i8, ptr %o, i64 {offset}" for name, offset, _ in fields],
        *[f"  %its_{name} = load {type}, ptr %{name}p" for name, _, type in fields],
        "  %flagged = and i32 %its_flags, %flags",
        "  %one = icmp eq ptr %its_dtype, %dtype",
        "  %two = icmp eq i32 %its_rank, %rank",
        "  %three = icmp eq i32 %flagged, %flags",
        "  %both = and i1 %one, %two",
        "  %all = and i1 %both, %three",
        "  br i1 %all, label %shape, label %no",
        *_fits_in_shape(),
    ]


def _fits_in_shape() -> list[str]:
    """Return the rest of that function: axis by axis, the length that is wanted or any."""
    return [
        "shape:",
        f"  %lengthsp = getelementptr i8, ptr %o, i64 {library.DIMS}",
        "  %lengths = load ptr, ptr %lengthsp",
        "  %axes = zext i32 %rank to i64",
        "  br label %look",
        "look:",
        "  %axis = phi i64 [ 0, %shape ], [ %next, %length ]",
        "  %done = icmp eq i64 %axis, %axes",
        "  br i1 %done, label %yes, label %length",
        "length:",
        "  %wantedp = getelementptr i64, ptr %dims, i64 %axis",
        "  %wanted = load i64, ptr %wantedp",
        "  %foundp = getelementptr i64, ptr %lengths, i64 %axis",
        "  %found = load i64, ptr %foundp",
        "  %same = icmp eq i64 %found, %wanted",
        f"  %any = icmp eq i64 %wanted, {OPEN}",
        "  %right = or i1 %same, %any",
        "  %next = add i64 %axis, 1",
        "  br i1 %right, label %look, label %no",
        "yes:",
        "  ret i1 true",
        "no:",
        "  ret i1 false",
        "}",
    ]


def _declarations(needs: set[tuple[str, str]]) -> list[str]:
    """Return the functions that the code calls: LLVM's declared, our own defined."""
    found: dict[str, str] = {}
    for name, kind in sorted(needs):
        found |= own_functions(name[4:], kind) if name.startswith("ebb.") else _of_llvm(name, kind)
    return ["declare ptr @llvm.ptrmask.p0.i64(ptr, i64)", *found.values()]


def _of_llvm(name: str, kind: str) -> dict[str, str]:
    t = TYPES[kind]
    _, is_vector, lanes = name.rpartition(".v")
    if not is_vector:
        full = f"llvm.{name}.{kind}"
        return {full: f"declare {t} @{full}({', '.join([t] * elementwise.INTRINSICS[name])})"}
    full, vector = f"llvm.{name}{kind}", f"<{lanes} x {t}>"
    return {full: f"declare {vector} @{full}({vector}, {vector}, {vector})"}


@functools.cache
def own_functions(name: str, kind: str) -> dict[str, str]:
    """Return the text of one of our functions and of what it calls, by name."""
    from llvmlite import ir  # loads LLVM

    from ebbflow.engines.native.arithmetic.functions import function

    module = ir.Module()
    function(module, name, kind)
    return {g.name: str(g) for g in module.global_values}  # functions, and the tables they look into
