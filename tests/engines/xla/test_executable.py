"""Executables: what goes in and out, memory, errors, variables, the cache, how a process ends."""

# ruff: noqa: E501  (tables have long rows)

from __future__ import annotations

import gc
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading

import jax
import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.registry import registry
from ebbflow.engines.xla import ending, executable, library
from ebbflow.engines.xla.lower import lower_call
from ebbflow.engines.xla.refusal import Refusal, unsupported, why_not
from tests.engines.xla.test_regions import region_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def aligned(*shape, dtype=np.float32):
    """Return an array that begins at a multiple of 64 bytes."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.empty(count + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + count].view(dtype).reshape(shape)


def made(function, *arrays, **options):
    return executable.compile_function(function, arrays, **options)


def made_by(run, *arrays):
    """Return how many results XLA gives."""
    return len(run.compiled(*arrays))


# ---------------------------------------------------------------------------------------------- what goes in and out

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("name", TYPES.split())
def test_every_type_goes_through(name):
    array = np.arange(6).reshape(2, 3).astype(getattr(tf, name).np)
    (found,) = made(lambda x: [x.T], array)(array)
    assert found.dtype == array.dtype
    assert found.tolist() == array.T.tolist()


def test_a_program_of_ones_own_keeps_narrow_types():
    wide = np.arange(3, dtype=np.int64)
    made(lambda x: [x + 1], wide)(wide)
    assert jax.numpy.asarray(np.arange(3.0)).dtype == np.float32
    assert not jax.config.jax_enable_x64


def test_results_that_are_known_or_given_never_meet_xla():
    x = aligned(4)
    run = made(lambda x: [np.array([1, 2]), x, x + 1, x], x)
    known, given, added, again = run(x)
    assert known.tolist() == [1, 2]
    assert given is x and again is x
    assert added.tolist() == (x + 1).tolist()
    assert made_by(run, x) == 1


def test_a_result_that_is_wanted_twice_is_made_once():
    x = aligned(4)

    def function(x):
        y = x * 2
        return [y, y]

    run = made(function, x)
    first, second = run(x)
    assert first is second
    assert made_by(run, x) == 1


def test_large_arrays_go_in_and_out_without_a_copy():
    x = aligned(1 << 20)
    x[:] = 1
    run = made(lambda x: [x + 1], x)
    inside = jax.device_put(x, may_alias=True)  # as a call takes it: see the pointer that XLA gets
    assert inside.unsafe_buffer_pointer() == x.ctypes.data
    (raw,) = run.on_device(x)
    assert np.asarray(raw).ctypes.data == raw.unsafe_buffer_pointer()
    (found,) = run(x)
    assert not found.flags.writeable
    assert found.ctypes.data % 64 == 0


def test_results_outlive_the_executable_and_do_not_follow_the_arguments():
    x = aligned(1024)
    x[:] = 1
    run = made(lambda x: [x * 1, x.reshape(32, 32), x[:7]], x)
    found = run(x)
    kept = [a.copy() for a in found]
    x[:] = 5
    del run
    gc.collect()
    for a, b in zip(found, kept, strict=True):
        assert np.array_equal(a, b)


def test_arrays_in_any_order_of_memory():
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    run = made(lambda x: [x + 1], x.T)
    assert run(x.T)[0].tolist() == (x.T + 1).tolist()
    every_other = np.arange(24.0, dtype=np.float32).reshape(4, 6)[:, ::2]
    assert run(every_other)[0].tolist() == (every_other + 1).tolist()


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), np.zeros(4, np.int32), np.zeros((4, 1), np.float32)])
def test_arrays_of_another_kind_are_refused(wrong):
    run = made(lambda x: [x + 1], np.zeros(4, np.float32))
    with pytest.raises(errors.InvalidArgumentError):
        run(wrong)


def test_too_much_memory_is_an_error_of_ours():
    x = aligned(2)
    run = made(lambda x: [jax.numpy.broadcast_to(x[0], (1 << 24, 1 << 20)) + 1], x)
    with pytest.raises((errors.ResourceExhaustedError, errors.InternalError)):
        run(x)


def test_threads_share_an_executable():
    x = aligned(1000)
    x[:] = np.arange(1000)
    run = made(lambda x, y: [x + y], x, x)
    wrong = []

    def work(number):
        y = np.full(1000, number, np.float32)
        for _ in range(50):
            if not np.array_equal(run(x, y)[0], x + y):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---------------------------------------------------------------------------------------------- refusals


def tensor(dims, dtype, value=None):
    return Known(dims, dtype, value)


F, I, HANDLE = tf.float32, tf.int32, tf.resource
AXES = np.array([0], np.int32)
SUM = {"T": F, "Tidx": I, "keep_dims": False}
UNIFORM = {"T": I, "dtype": F, "seed": 0, "seed2": 0}
GATHER = {"Tparams": F, "Tindices": I, "Taxis": I, "batch_dims": 0}
GATHERED = [tensor((4,), F), tensor((2,), I), tensor((), I, np.array(0))]
STRICT, STATE = {"strict": True}, {"state": True}

#   case                 op, attrs                               inputs                              options  says
ASKED = {
    "fits":             ("Exp", {"T": F},                       [tensor((2, 3), F)],                {}, None),
    "shape unknown":    ("Exp", {"T": F},                       [tensor((None, 3), F)],             {}, r"x may have shape \[\?, 3\]"),
    "rank unknown":     ("Exp", {"T": F},                       [tensor(None, F)],                  {}, "x may have any shape"),
    "value unknown":    ("Sum", SUM,        [tensor((2,), F), tensor((1,), I)],                     {}, "value of reduction_indices"),
    "value known":      ("Sum", SUM,        [tensor((2,), F), tensor((1,), I, AXES)],               {}, None),
    "strings":          ("Identity", {"T": tf.string},          [tensor((2,), tf.string)],          {}, "type string"),
    "no lowering":      ("StringJoin", {"N": 1, "separator": ""}, [tensor((2,), tf.string)],        {}, "has no lowering"),
    "data decides":     ("Where", {"T": F},                     [tensor((2,), F)],                  {}, "depends on the values"),
    "stateful":         ("RandomUniform", UNIFORM,              [tensor((1,), I, AXES)],            {}, "keeps state"),
    "variables":        ("ReadVariableOp", {"dtype": F},        [tensor((), HANDLE)],               {}, "keeps state"),
    "variables let in": ("ReadVariableOp", {"dtype": F},        [tensor((), HANDLE)],               STATE, None),
    "checks":           ("GatherV2", GATHER,                    GATHERED,                           STRICT, "in range"),
    "checks let go":    ("GatherV2", GATHER,                    GATHERED,                           {}, None),
    "whole division":   ("FloorDiv", {"T": I},                  [tensor((2,), I)] * 2,              STRICT, "division by zero"),
    "true division":    ("RealDiv", {"T": F},                   [tensor((2,), F)] * 2,              STRICT, None),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_why_not(name):
    op_name, attrs, given, options, says = ASKED[name]
    answer = why_not(registry[op_name], attrs, given, **options)
    if says is None:
        assert answer is None
    else:
        assert re.search(says, answer or ""), answer


def test_constant_strings_pass_by_and_handles_do_not():
    v = tf.Variable(1.0)
    assert tf.function(lambda x: (x + 1, "s", None), jit_compile=1)(1.0)[1].numpy() == b"s"
    with pytest.raises(errors.InvalidArgumentError, match="what is given is no array of numbers"):
        tf.function(lambda x: (x + 1, v.handle), jit_compile=True)(1.0)


def test_rules_are_read_without_jax():
    code = """
        import sys
        import ebbflow, ebbflow.ops.foundation
        from ebbflow.engines.xla.rules import everything
        from ebbflow.engines.xla import devices, refusal, executable, cache, ending
        assert len(everything()) > 300
        devices.has_accelerators()
        assert "jax" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, cwd=ROOT)


def test_the_error_names_op_node_and_line():
    region, _ = region_of(lambda x: tf.where(x > 0.3, name="chosen"), [np.ones(3, np.float32)])
    with pytest.raises(Refusal) as refusal:
        executable.compile(region)
    error = unsupported([refusal.value], "step")
    assert isinstance(error, errors.InvalidArgumentError)
    assert "Detected unsupported operations" in str(error)
    assert "Where (the shape of what it gives depends on the values it takes)" in str(error)
    assert "node chosen" in str(error)
    assert "test_executable.py:" in str(error)


def test_wrong_shapes_have_the_words_of_the_rule():
    with pytest.raises(errors.InvalidArgumentError, match="Incompatible shapes"), library.wide():
        lower_call(registry["AddV2"], {"T": F}, [np.zeros(5000, np.float32), np.zeros(3, np.float32)])


def test_ops_of_ones_own_are_lowered_by_their_declaration():
    mine = op("XlaTwice(x:T) -> (y:T) | T: floats; times: int = 2", internal=True)
    mine.shape(lambda x: x.dims)
    mine.kernel(lambda xp, x, *, times: np.asarray(x) * times)
    x = np.arange(3, dtype=np.float32)
    with pytest.raises(Refusal, match="has no lowering"):
        made(lambda x: lower_call(mine, {"T": F, "times": 3}, [x]), x)
    mine.xla(lambda jnp, x, *, times: x * times)
    assert made(lambda x: lower_call(mine, {"T": F, "times": 3}, [x]), x)(x)[0].tolist() == [0, 3, 6]


def test_a_long_chain_of_nodes():
    def chain(x):
        for _ in range(2000):
            x = x + 1.0
        return x

    region, (expected,) = region_of(chain, [np.float32(1)])
    assert executable.compile(region)(np.float32(1))[0] == expected


# ---------------------------------------------------------------------------------------------- the end of a process


ENDING = """
    import sys, time
    import numpy as np
    from ebbflow.engines.background import Worker
    from ebbflow.engines.xla import executable

    def slow(*xs):
        import jax.numpy as jnp
        return [y for x in xs for y in (jnp.sin(x) * x.sum(axis=0), x @ x.T)]

    arrays = [np.ones((3 + i % 3, 4 + i), np.float32) for i in range(12)]
    worker, ready = Worker("compiler"), []
    for _ in range(50):
        worker.add(lambda: ready.append(executable.compile_function(slow, arrays)))
    time.sleep({wait})
    print("leaving", len(ready), flush=True)
    sys.exit(3)
"""


@pytest.mark.parametrize("wait", [0, 2.5])
def test_a_process_ends_while_it_compiles(wait):
    """It must neither hang (fifty are to be compiled, one is waited for) nor crash, and its exit code is its own."""
    code = textwrap.dedent(ENDING).format(wait=wait)
    environment = {**os.environ, "EBBFLOW_CACHE": ""}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 3, ended.stderr
    assert "leaving" in ended.stdout
    assert int(ended.stdout.split()[-1]) < 50


# ---------------------------------------------------------------------------------------------- the cache

CACHED = """
    import numpy as np, time
    from ebbflow.engines.xla import cache, executable
    import jax
    cache.SLOW = 0.0
    def function(x):
        import jax.numpy as jnp
        for _ in range(30):
            x = jnp.sin(x) @ x
        return [x]
    hits = []
    jax.monitoring.register_event_listener(lambda name, **_: hits.append(name) if name.endswith("cache_hits") else None)
    x = np.ones((4, 4), np.float32)
    print(executable.compile_function(function, [x])(x)[0].sum(), len(hits), cache.use())
"""


def run_cached(folder):
    environment = {**os.environ, "EBBFLOW_CACHE": folder}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CACHED)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_code_is_kept_for_the_next_process(tmp_path):
    first = run_cached(str(tmp_path))
    assert list((tmp_path / "xla").iterdir())
    again = run_cached(str(tmp_path))
    assert again[0] == first[0]
    assert (first[1], again[1]) == ("0", "1")


def test_nothing_new_is_begun_at_the_end(monkeypatch):
    monkeypatch.setitem(ending._state, "closing", True)
    with pytest.raises(ending.Ending):
        made(lambda x: [x + 1], np.ones(3, np.float32))


THREADS = """
    import os
    import numpy as np
    from ebbflow.platform import config
    config.set_intra_op_parallelism_threads({count})
    from ebbflow.engines.xla import executable
    x = np.ones((256, 256), np.float32)
    executable.compile_function(lambda x: [x @ x], [x])(x)
    names = [open(f"/proc/self/task/{{task}}/comm").read() for task in os.listdir("/proc/self/task")]
    print(sum("XLAEigen" in name for name in names))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
@pytest.mark.parametrize("count", [1, 3])
def test_threads_are_as_many_as_wished(count):
    code = textwrap.dedent(THREADS).format(count=count)
    environment = {name: value for name, value in os.environ.items() if name != "PJRT_NPROC"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.stdout.strip() == "0":
        pytest.skip("this jaxlib gives its threads no names")
    assert done.stdout.strip() == str(count), done.stderr
