"""Finding, loading and taming the shared library.

oneDNN comes from PyPI (`onednn-cpu-gomp`), for Linux on x86-64; a newer one of the system's is taken instead. Three
things about it are settled here, before any primitive is made. *Instructions*: some virtual machines announce AMX,
bfloat16 and float16 instructions and kill the process that uses them, so AVX-512 is the most that is used;
ONEDNN_MAX_CPU_ISA may ask for less, or for more, which is granted if a child process survives it. *Threads*: as many as
the program wants for one op and the machine has, and idle ones sleep soon: they would otherwise take the CPUs from
NumPy's BLAS. *Forks*: the threads of libgomp are not there in a forked child; its calls go through a thread of their
own. Knows nothing of primitives.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import forks
from ebbflow.engines import enabled
from ebbflow.platform import config, threads

PACKAGE = "onednn-cpu-gomp"
FILE = "libdnnl.so.3"
SYSTEM = ("/usr/local/lib", "/usr/local/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
"""Where distributions and `cmake --install` put it."""

ISAS = {
    "sse41": 0x1,
    "avx": 0x3,
    "avx2": 0x7,
    "avx2_vnni": 0xF,
    "avx2_vnni_2": 0x1F,
    "avx512_core": 0x27,
    "avx512_core_vnni": 0x67,
    "avx512_core_bf16": 0xE7,
    "avx512_core_fp16": 0x1EF,
    "avx512_core_amx": 0xFEF,
    "avx512_core_amx_fp16": 0x1FEF,
}
"""What oneDNN calls sets of instructions, each with those before it."""

SAFE_ISA = ISAS["avx512_core_vnni"]
SPIN = "20000"
"""How often an idle thread looks for work before it sleeps: about a millisecond, so that the next primitive
of a step finds it awake (25 µs less each). libgomp's own number keeps a CPU busy for ten."""


class Library:
    """The loaded library: `call` releases the interpreter's lock, `quick` does not, `omp` sets the threads."""

    def __init__(self, path: str):
        with _gentle_spinning():
            self.call = ctypes.CDLL(path)
        self.quick = ctypes.PyDLL(path)
        self.omp = ctypes.PyDLL(path)  # libgomp's names are found through the library that needs it
        self.version = _version(self.call)
        self.path = path


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
        ("gpu_runtime", ctypes.c_uint),
    )


_OPENMP = 2


def _version(library: Any) -> tuple[int, int, int]:
    library.dnnl_version.restype = ctypes.POINTER(_Version)
    found = library.dnnl_version().contents
    if found.major != 3 or found.cpu_runtime != _OPENMP:
        raise OSError(f"oneDNN {found.major}.{found.minor} (runtime {found.cpu_runtime}) is not 3.x with OpenMP")
    return found.major, found.minor, found.patch


@contextlib.contextmanager
def _gentle_spinning() -> Iterator[None]:
    """Have libgomp, which reads the environment once, when it is loaded, let idle threads sleep soon."""
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SPIN
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]


# --- finding and loading ----------------------------------------------------------------------------------------------

_lock = forks.lock()
_found: list[Library | None] = []  # empty before the first try
_hidden = 0


def suits() -> bool:
    """Return whether there is an oneDNN for this platform at all, and the environment lets it serve."""
    return sys.platform == "linux" and os.uname().machine == "x86_64" and enabled.allowed("onednn")


def candidates() -> Iterator[str]:
    """Yield the files that may be oneDNN: what EBBFLOW_ONEDNN names, alone; else the package's and the system's."""
    named = os.environ.get("EBBFLOW_ONEDNN")
    if named:
        yield named
        return
    packaged = _packaged()
    if packaged is not None:
        yield packaged
    for folder in SYSTEM:
        if (path := pathlib.Path(folder, FILE)).exists():
            yield str(path)


def _packaged() -> str | None:
    """Return the path of the package's library, or None where it is not installed."""
    beside = pathlib.Path(sys.prefix, "lib", FILE)
    if beside.exists():
        return str(beside)
    from importlib import metadata  # slow to load, and seldom needed

    try:
        files = metadata.files(PACKAGE) or ()
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == FILE and pathlib.Path(file.locate()).exists():
            return str(pathlib.Path(file.locate()).resolve())
    return None


def load() -> Library | None:
    """Return the library, loading it the first time; None where it cannot serve."""
    with _lock:
        if not _found:
            _found.append(_load())
    return _found[0]


def _load() -> Library | None:
    library = (
        max(filter(None, map(_opened, candidates())), key=lambda one: one.version, default=None) if suits() else None
    )
    if library is None:
        return None
    library.call.dnnl_set_max_cpu_isa(_granted(library.path))
    os.register_at_fork(after_in_child=_in_child)
    return library


def _opened(path: str) -> Library | None:
    """Return the library in a file, or None where it cannot serve: NumPy does then."""
    try:
        return Library(path)
    except (OSError, AttributeError):  # no libgomp, threads other than OpenMP's, or another library of that name
        return None


def serves() -> bool:
    """Return whether oneDNN is there and may be used; the first question loads it."""
    return not _hidden and (_found[0] if _found else load()) is not None


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Do without oneDNN for a while: for tests."""
    global _hidden
    _hidden += 1
    try:
        yield
    finally:
        _hidden -= 1


# --- instructions -----------------------------------------------------------------------------------------------------


def _granted(path: str) -> int:
    """Return the instructions to use: those wished for, if they are safe or a child process survives them."""
    wished = os.environ.get("ONEDNN_MAX_CPU_ISA", "").lower()
    isa = ISAS["avx512_core_amx_fp16"] if wished in ("all", "default") else ISAS.get(wished, SAFE_ISA)
    return isa if isa <= SAFE_ISA or survives(path, isa) else SAFE_ISA


@functools.cache
def survives(path: str, isa: int) -> bool:
    """Return whether a child process lives through products of float32, bfloat16 and float16 on these instructions."""
    import subprocess  # slow to load, and seldom needed

    command = [sys.executable, "-c", _PROBE, path, str(isa)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        return subprocess.run(command, env=environment, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


_PROBE = """
import ctypes, sys
path, isa = sys.argv[1], int(sys.argv[2])
lib = ctypes.CDLL(path)
assert lib.dnnl_set_max_cpu_isa(isa) == 0
P, N = ctypes.c_void_p, 64
engine, stream, dims = P(), P(), (ctypes.c_int64 * 12)(N, N)
lib.dnnl_memory_desc_create_with_strides.argtypes = [P, ctypes.c_int, P, ctypes.c_int, P]
assert lib.dnnl_engine_create(ctypes.byref(engine), 1, ctypes.c_size_t(0)) == 0
assert lib.dnnl_stream_create(ctypes.byref(stream), engine, 1) == 0
class Argument(ctypes.Structure):
    _fields_ = [("name", ctypes.c_int), ("memory", P)]
for kind in (3, 2, 1):
    layout, plan, product = P(), P(), P()
    lib.dnnl_memory_desc_create_with_strides(ctypes.byref(layout), 2, dims, kind, (ctypes.c_int64 * 12)(N, 1))
    status = lib.dnnl_matmul_primitive_desc_create(ctypes.byref(plan), engine, layout, layout, None, layout, None)
    if status == 3:
        continue
    assert status == 0 and lib.dnnl_primitive_create(ctypes.byref(product), plan) == 0
    arguments = (Argument * 3)()
    for at, name in enumerate((1, 33, 17)):
        memory = P()
        allocate = P(ctypes.c_size_t(-1).value)
        assert lib.dnnl_memory_create(ctypes.byref(memory), layout, engine, allocate) == 0
        arguments[at].name, arguments[at].memory = name, memory
    assert lib.dnnl_primitive_execute(product, stream, 3, arguments) == 0
"""


def multiplies_bytes() -> bool:
    """Return whether products of bytes are summed in 32 bits at once; older instructions cut the sum of two at 16."""
    loaded = load()
    return loaded is not None and bool(loaded.call.dnnl_get_effective_cpu_isa() & _VNNI)


_VNNI = (ISAS["avx2_vnni"] & ~ISAS["avx2"]) | (ISAS["avx512_core_vnni"] & ~ISAS["avx512_core"])


# --- threads ----------------------------------------------------------------------------------------------------------


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return threads.cores()


def thread_count() -> int:
    """Return how many threads one primitive uses: what the program wishes for one op, at most the CPUs there are."""
    wished = config.wishes.intra_op_threads
    return min(wished, cpus()) if wished > 0 else cpus()


# --- forks ------------------------------------------------------------------------------------------------------------

is_child = False
"""Whether this process was forked from one that had loaded the library."""

after_fork: list[Callable[[], None]] = []
"""What else must be made anew in a forked child."""

_elsewhere: Any = None


def _in_child() -> None:
    global is_child, _elsewhere
    is_child, _elsewhere = True, None
    for renew in after_fork:
        renew()


def in_own_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns when another thread, one that libgomp has not seen before the fork, calls it."""
    global _elsewhere
    if _elsewhere is None:
        from concurrent.futures import ThreadPoolExecutor  # slow to load, and seldom needed

        _elsewhere = ThreadPoolExecutor(1, "onednn")
    return _elsewhere.submit(function, *arguments).result()
