"""LLVM, through llvmlite: text in LLVM's language becomes machine code, and that a function Python can call.

The function is a plain built-in one (vectorcall, some thirty nanoseconds), which reads where an array's elements lie
from the array object itself. That relies on how NumPy and CPython lay their objects out, so `available` looks at real
arrays first; where anything is not as expected, there is no native engine. Knows nothing of ops or flows.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import struct
import sys
from typing import Any

import numpy as np

from ebbflow.core import forks
from ebbflow.engines.native import object_files
from ebbflow.engines.native.resident import let_go_of_code

_lock = forks.rlock()  # LLVM itself may be used by one thread at a time
_gone: list[Any] = []  # code that nobody holds any more

# Where an array object keeps what: behind the header of every object (a count and a type).
DATA, RANK, DIMS, DTYPE, FLAGS = 16, 24, 32, 56, 64
TYPE = 8
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400

_FASTCALL = 0x80

_RECIPE = 1
"""Counted up whenever the same text is to become other code, so that what was kept before is not used any more."""

# LLVM 22's vectorising of straight code gives wrong code for a row of tests of loop counters, and no row of
# `benchmarks/` is slower without it.
_TUNING = {"loop_vectorization": True, "slp_vectorization": False, "loop_interleaving": True}


@functools.cache
def available() -> bool:
    """Return whether code can be made and called here."""
    if importlib.util.find_spec("llvmlite") is None or sys.implementation.name != "cpython":
        return False
    return _laid_out_as_expected()


def _laid_out_as_expected() -> bool:
    """Return whether array objects look as the code will take for granted."""
    if struct.calcsize("P") != 8 or object.__basicsize__ != 16 or np.ndarray.__basicsize__ < max(DIMS + 16, FLAGS + 4):
        return False
    for array in (np.zeros([3, 5], np.float32), np.zeros([], np.int64), np.zeros([2, 3, 4])[:, 1:].T):
        at = id(array)
        dims = _word(at + DIMS)
        flags = _word(at + FLAGS) & 0xFFFFFFFF
        if (
            _word(at + TYPE) != id(np.ndarray)
            or _word(at + DATA) != array.ctypes.data
            or _word(at + RANK) & 0xFFFFFFFF != array.ndim
            or _word(at + DTYPE) != id(array.dtype)
            or bool(flags & CONTIGUOUS) != array.flags.c_contiguous
            or not flags & ALIGNED
            or not flags & WRITEABLE
            or _word(at + DIMS + 8) != dims + 8 * array.ndim  # strides lie behind the dims: so it is a pointer to them
            or tuple(_word(dims + 8 * i) for i in range(array.ndim)) != array.shape
        ):
            return False
    return True


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


@functools.cache
def features() -> frozenset[str]:
    """Return the names of what this processor can do, but for what virtual machines announce and then fail at."""
    import llvmlite.binding as llvm  # loads LLVM: sixty megabytes, fifty milliseconds

    let_go_of_code()
    doubtful = ("amx", "avx512fp16", "avx512bf16", "avx10")
    return frozenset(
        name for name, there in llvm.get_host_cpu_features().items() if there and not name.startswith(doubtful)
    )


@functools.cache
def lanes() -> int:
    """Return how many float32 numbers a register of the processor's vector unit holds."""
    return 16 if "avx512f" in features() else 8 if "avx2" in features() else 4


@functools.cache
def _processor() -> tuple[str, str]:
    """Return the processor's name and what of it is used, in LLVM's words."""
    import llvmlite.binding as llvm

    flags = {name: name in features() for name in llvm.get_host_cpu_features()}
    if sys.platform != "darwin" and "avx2" in flags:  # what LLVM has flags for on x86 only
        flags |= {"prefer-256-bit": False, "prefer-no-gather": True}
    return llvm.get_host_cpu_name(), ",".join("-+"[there] + name for name, there in sorted(flags.items()))


@functools.cache
def _machine() -> Any:
    """Return a description of this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, wanted = _processor()
    return llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features=wanted, opt=3, jit=True)


def _optimised(text: str) -> Any:
    """Return LLVM's module of a text, made for this machine."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    for name, wanted in _TUNING.items():
        setattr(tuning, name, wanted)
    builder = llvm.create_pass_builder(_machine(), tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def _name(text: str) -> str:
    """Return under which name the code of a text is kept: all that it depends on, in short."""
    return hashlib.sha256(f"{_maker()}\n{text}".encode()).hexdigest()


@functools.cache
def _maker() -> str:
    import llvmlite
    import llvmlite.binding as llvm

    made_with = (_RECIPE, _TUNING, llvmlite.__version__, llvm.llvm_version_info)
    return f"{made_with} {llvm.get_default_triple()} {_processor()}"


def _object(text: str) -> bytes:
    """Return the machine code of a text, from disk where it was made before."""
    found = object_files.recall(_name(text))
    if found is None:
        found = _machine().emit_object(_optimised(text))
        object_files.keep(_name(text), found)
    return found


class Code:
    """Machine code, kept as long as somebody holds this; `symbols` says where what it does not define itself lies."""

    def __init__(self, text: str, symbols: dict[str, int]):
        import llvmlite.binding as llvm

        with _lock:
            made = llvm.JITLibraryBuilder().add_object_img(_object(text))
            for name, address in symbols.items():
                made.import_symbol(name, address)
            made.add_current_process().export_symbol("entry")
            # A linker of its own: one for all would remember every piece of code that ever was.
            self._linked = made.link(llvm.create_lljit_compiler(_machine()), "native")
            _gone.clear()

    def __del__(self) -> None:
        """Have the code given back: at once, or by whoever compiles now; that may take long, and nobody waits."""
        if _gone is None:  # Python is ending
            return
        _gone.append(self.__dict__.pop("_linked", None))
        lock = _lock
        if lock.acquire(blocking=False):
            try:
                _gone.clear()
            finally:
                lock.release()

    @property
    def entry(self) -> int:
        """Where its function `entry` begins."""
        return self._linked["entry"]


def assembly(text: str) -> str:
    """Return what a text becomes, for those who want to read it."""
    with _lock:
        return _machine().emit_assembly(_optimised(text))


class _Definition(ctypes.Structure):
    """What CPython calls a method definition."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(code: Code, keep: Any = None) -> Any:
    """Return the function `entry` of the code, which takes (self, objects, their number), as a built-in function."""
    definition = _Definition(b"native", code.entry, _FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.POINTER(_Definition), ctypes.py_object, ctypes.py_object]
    return make(ctypes.byref(definition), (code, definition, keep), None)
