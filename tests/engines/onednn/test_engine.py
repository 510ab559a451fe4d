"""The engine around the primitives: loading, hiding, instructions, threads, forks, checks; and fused primitives."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from ebbflow.core import memory
from ebbflow.core.registry import registry
from ebbflow.engines import enabled
from ebbflow.engines.onednn import binding, chain, conv, eltwise, layout, library, matmul, norm, softmax
from ebbflow.platform import blas, config
from tests.engines.onednn.fuzz import check_conv, check_pool
from tests.engines.onednn.test_ops import SERVICES, close, floats, reference, settled
from tests.machine import ONEDNN

serving = ONEDNN
ONES = (1, 1, 1, 1)


def run(plan, *inputs, dtype=np.float32):
    if plan is None and library.load().call.dnnl_get_effective_cpu_isa() < library.SAFE_ISA:
        pytest.skip("not with the instructions of this machine")
    outputs = [np.full(shape, 77, dtype) for shape in plan.outputs]
    plan.call(*inputs, *outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def in_child(program, **environment):
    """Run a program in a process of its own; return what it prints."""
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


# --- being there ------------------------------------------------------------------------------------------------------

LARGE_CONV = """
import numpy as np
import ebbflow as tf
from ebbflow.engines.onednn import library
x, f = tf.ones([4, 32, 32, 8]), tf.ones([3, 3, 8, 8])
"""


@serving
def test_it_is_loaded_by_the_first_large_call_and_not_before():
    said = in_child(
        LARGE_CONV
        + "small = tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, 'SAME')\n"
        + "print(bool(library._found), end=' ')\n"
        + "y = tf.nn.conv2d(x, f, 1, 'SAME')\n"
        + "print(bool(library._found), float(tf.reduce_max(y)))"
    )
    assert said == "False True 72.0"


@pytest.mark.parametrize("engines", ["host", "host, xla", ""])
def test_without_it_everything_still_works(engines):
    said = in_child(
        LARGE_CONV + "print(library.serves(), float(tf.reduce_max(tf.nn.conv2d(x, f, 1, 'SAME'))))",
        EBBFLOW_ENGINES=engines,
    )
    assert said == "False 72.0"


def test_a_machine_without_the_library(monkeypatch):
    monkeypatch.setattr(library, "candidates", lambda: [])
    assert library._load() is None
    monkeypatch.setattr(library, "candidates", lambda: [__file__])  # there, but no library
    assert library._load() is None
    monkeypatch.setattr(library, "candidates", lambda: ["libc.so.6"])  # a library, but another one
    assert library._load() is None


@serving
def test_the_newest_library_that_can_serve_is_taken(monkeypatch, tmp_path):
    packaged, system = library._packaged(), tmp_path / library.FILE
    system.symlink_to(packaged)
    monkeypatch.setattr(library, "SYSTEM", [str(tmp_path)])
    assert list(library.candidates()) == [packaged, str(system)]
    versions = {packaged: (3, 2, 0), str(system): (3, 9, 1)}
    opened = library._opened

    def told(path):
        one = opened(path)
        one.version = versions[path]
        return one

    monkeypatch.setattr(library, "_opened", told)
    assert library._load().path == str(system)
    versions[str(system)] = (3, 1, 0)
    assert library._load().path == packaged
    monkeypatch.setenv("EBBFLOW_ONEDNN", str(system))
    assert library._load().path == str(system)


def test_another_platform(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not library.suits()


def test_engines_may_be_named(monkeypatch):
    monkeypatch.setenv("EBBFLOW_ENGINES", "host, OneDNN")
    assert enabled.allowed("onednn") and not enabled.allowed("xla")
    monkeypatch.delenv("EBBFLOW_ENGINES")
    assert enabled.allowed("xla")


def test_hidden_planners_plan_nothing_and_ops_answer_the_same():
    op, attrs = registry["Conv2D"], settled(registry["Conv2D"], {"strides": ONES, "padding": "SAME"})
    arrays = [floats(4, 32, 32, 8), floats(3, 3, 8, 8)]
    shown = op.run(arrays, attrs)
    with library.hidden():
        assert conv.forward(arrays[0].shape, arrays[1].shape, ONES, "SAME") is None
        assert not any(wins(arrays, attrs) for wins, _ in op.engines)
        close([shown], [op.run(arrays, attrs)])
    assert library.serves() == any(wins(arrays, attrs) for wins, _ in op.engines)


@serving
def test_every_served_op_is_declared_and_has_its_engine():
    for name, service in SERVICES.items():
        op = registry[name]
        assert len(service.inputs) == len(op.signature.inputs)
        assert any(getattr(p, "args", ())[:1] == (service,) for p in op.preparers)
        assert bool(op.engines) >= (service.least[0] is not None)


# --- instructions -----------------------------------------------------------------------------------------------------


@serving
def test_instructions_are_capped(monkeypatch):
    monkeypatch.setattr(library, "survives", lambda path, isa: False)
    assert library._granted("x") == library.SAFE_ISA
    for wished in ("AVX512_CORE_AMX", "ALL", "nonsense"):
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", wished)
        assert library._granted("x") == library.SAFE_ISA
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    assert library._granted("x") == library.ISAS["avx2"]
    monkeypatch.setattr(library, "survives", lambda path, isa: True)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_AMX")
    assert library._granted("x") == library.ISAS["avx512_core_amx"]


@serving
def test_a_child_that_dies_grants_nothing(monkeypatch):
    path = library._packaged()
    assert library.survives(path, library.ISAS["avx2"])
    assert not library.survives("/no/such/library", library.ISAS["avx2"])
    monkeypatch.setattr(library, "_PROBE", "import os; os.abort()")
    assert not library.survives.__wrapped__(path, library.ISAS["avx2"])


@serving
def test_the_library_uses_no_more_than_it_was_granted():
    said = in_child(
        "from ebbflow.engines.onednn import library; loaded = library.load();"
        "print(loaded.call.dnnl_get_effective_cpu_isa() <= library.SAFE_ISA)"
    )
    assert said == "True"


# --- threads and forks ------------------------------------------------------------------------------------------------


def test_threads_follow_the_program_and_the_machine(monkeypatch):
    monkeypatch.setattr(library, "cpus", lambda: 8)
    assert library.thread_count() == 8
    monkeypatch.setattr(config.wishes, "intra_op_threads", 3)
    assert library.thread_count() == 3
    monkeypatch.setattr(config.wishes, "intra_op_threads", 99)
    assert library.thread_count() == 8


def test_numpys_products_follow_too(monkeypatch):
    try:
        for wished in (1, 2, 99, 0):
            config.set_intra_op_parallelism_threads(wished)
            assert all(b.get() == (min(wished, b.began_with) or b.began_with) for b in blas.found())
    finally:
        config.set_intra_op_parallelism_threads(0)


@serving
def test_runs_at_once_never_need_more_cpus_than_there_are(monkeypatch):
    monkeypatch.setattr(library, "cpus", lambda: 8)
    assert [chain.Team(n).slots.qsize() for n in (1, 2, 3, 8)] == [8, 4, 2, 1]


@serving
def test_another_number_of_threads_means_another_plan(monkeypatch):
    monkeypatch.setattr(library, "cpus", lambda: 2)
    plans = []
    for wished in (1, 2, 1):
        monkeypatch.setattr(config.wishes, "intra_op_threads", wished)
        plans.append(matmul.forward((512, 512), (512, 512)))
    assert [p.call.team.threads for p in plans] == [1, 2, 1] and plans[0] is plans[2]
    a = floats(512, 512)
    close([run(plans[0], a, a)], [run(plans[1], a, a)])


@serving
def test_small_work_is_done_by_one_thread(monkeypatch):
    monkeypatch.setattr(library, "cpus", lambda: 2)
    assert matmul.forward((16, 16), (16, 16)).call.team.threads == 1
    assert matmul.forward((1024, 512), (512, 512)).call.team.threads == 2


@serving
def test_many_threads_may_call():
    """The same chains and others, from more threads than there are slots, some with memory for themselves."""
    cases = []
    for seed in range(6):
        x, f, a = floats(2, 12, 12, 8, seed=seed), floats(3, 3, 8, 16, seed=seed), floats(300, 300, seed=seed)
        cases.append((x, f, run(conv.forward(x.shape, f.shape, ONES, "SAME"), x, f), a, a @ a))
    wrong = []

    def work(number):
        for turn in range(30):
            x, f, y, a, aa = cases[(number + turn) % len(cases)]
            found = run(conv.forward(x.shape, f.shape, ONES, "SAME"), x, f)
            back = run(conv.to_filter(x.shape, f.shape, y.shape, ONES, "SAME"), x, None, y)
            product = run(matmul.forward(a.shape, a.shape), a, a)
            if not (np.array_equal(found, y) and np.isfinite(back).all() and np.allclose(product, aa, atol=1e-3)):
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@serving
def test_a_forked_child_computes_too():
    """libgomp hangs in a child forked after its threads were started, unless another thread calls it there."""
    said = in_child(
        """
import os, signal
import numpy as np
from ebbflow.engines.onednn import library, matmul
library.cpus = lambda: 2
a = np.ones((600, 600), np.float32)
out = np.empty_like(a)
plan = matmul.forward(a.shape, a.shape)
plan.call(a, a, out)
child = os.fork()
if not child:
    signal.alarm(60)
    out[:] = 0
    plan.call(a, a, out)                       # planned before the fork
    other = np.empty((600, 300), np.float32)
    matmul.forward(a.shape, (600, 300)).call(a, a[:, :300], other)
    os._exit(int(not (out == 600).all() or not (other == 600).all()))
print(os.waitpid(child, 0)[1])
"""
    )
    assert said == "0"


@serving
def test_the_environment_is_left_as_it_was():
    said = in_child(
        "import os; from ebbflow.engines.onednn import library; before = dict(os.environ);"
        "library.load(); print(dict(os.environ) == before)"
    )
    assert said == "True"


# --- checks before the library sees an address ------------------------------------------------------------------------


class Other(np.ndarray):
    """A class of arrays, as np.memmap is one."""


@serving
def test_arrays_that_do_not_fit_are_refused():
    plan = matmul.forward((4, 5), (5, 6))
    a, b, out = floats(4, 5), floats(5, 6), np.zeros((4, 6), np.float32)
    read_only = out.copy()
    read_only.flags.writeable = False
    for wrong in (
        (a[:3], b, out),
        (a.astype(np.float64), b, out),
        (a.astype(">f4"), b, out),
        (a, b, np.zeros((6, 4), np.float32).T),
        (a, b, read_only),
        (a, b, np.zeros((4, 6), np.int32)),
    ):
        with pytest.raises(ValueError, match="operand"):
            plan.call(*wrong)
    for wrong in ((a.tolist(), b, out), (a, None, out), (a, b, out.view(Other))):
        with pytest.raises(TypeError, match="operand"):
            plan.call(*wrong)
    plan.call(a.view(Other), b, out)  # another class of array may be read
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)


@serving
def test_plans_are_remembered_and_few(monkeypatch):
    assert matmul.forward((3, 4), (4, 5)) is matmul.forward((3, 4), (4, 5))
    assert matmul.forward((3, 4), (5, 6)) is None


@serving
def test_what_the_library_holds_is_given_back():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def once(i):
        made = chain.Chain(0)
        made.reorder(made.reads(0, (64, 64 + i)), binding.seen((64, 64 + i)), made.writes(1, (64, 64 + i)),
                     binding.seen((64, 64 + i)))  # fmt: skip
        made(np.zeros((64, 64 + i), np.float32), np.zeros((64, 64 + i), np.float32))

    for i in range(300):
        once(i % 7)
    before = resident()
    for i in range(3000):
        once(i % 7)
    assert resident() - before < 4 << 20


def test_new_arrays_are_aligned():
    for shape in ((), (0,), (3,), (5, 7), (100, 100)):
        made = memory.empty(shape)
        assert made.shape == shape and made.dtype == np.float32
        assert not made.size or memory.address(made) % 64 == 0
        made[...] = 1
    assert memory.address(made) == made.ctypes.data


# --- fused and further primitives -------------------------------------------------------------------------------------


def erf(x):
    return np.vectorize(math.erf)(x.astype(np.float64))


FUNCTIONS = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "gelu": lambda x: (x * 0.5 * (1 + erf(x / math.sqrt(2)))).astype(np.float32),
    "swish": lambda x: x / (1 + np.exp(-x)),
    ("leaky_relu", 0.2): lambda x: np.where(x > 0, x, np.float32(0.2) * x),
}


@serving
@pytest.mark.parametrize("activation", FUNCTIONS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("add", [False, True])
def test_fused(activation, bias, add):
    fused = {"bias": bias, "add": add, "activation": activation}
    after = FUNCTIONS[activation]
    x, f, b, z = floats(2, 8, 8, 5), floats(3, 3, 5, 6), floats(6), floats(2, 8, 8, 6, seed=2)
    extra = ([b] if bias else []) + ([z] if add else [])
    attrs = settled(registry["Conv2D"], {"strides": ONES, "padding": "SAME"})
    plain = reference(registry["Conv2D"], [x, f], attrs)[0] + (b if bias else 0) + (z if add else 0)
    found = run(conv.forward(x.shape, f.shape, ONES, "SAME", **fused), x, f, *extra)
    np.testing.assert_allclose(found, after(plain), rtol=1e-4, atol=2e-5)
    for left, right in (((20, 30), (30, 6)), ((3, 4, 10), (10, 6)), ((2, 5, 7), (2, 7, 6))):
        a, w = floats(*left), floats(*right, seed=1)
        z = floats(*(a @ w).shape, seed=2)
        extra = ([b] if bias else []) + ([z] if add else [])
        found = run(matmul.forward(left, right, **fused), a, w, *extra)
        np.testing.assert_allclose(found, after(a @ w + (b if bias else 0) + (z if add else 0)), rtol=1e-4, atol=2e-5)


@serving
def test_fused_in_the_other_format():
    x, f, b, z = floats(2, 5, 8, 8), floats(3, 3, 5, 6), floats(6), floats(2, 6, 4, 4)
    given = {"strides": (1, 1, 2, 2), "padding": "SAME", "data_format": "NCHW"}
    plain = reference(registry["Conv2D"], [x, f], settled(registry["Conv2D"], given))[0] + b[:, None, None] + z
    plan = conv.forward(x.shape, f.shape, (1, 1, 2, 2), "SAME", (), "NCHW", bias=True, add=True, activation="relu")
    np.testing.assert_allclose(run(plan, x, f, b, z), np.maximum(plain, 0), atol=2e-5)


SHARED = [
    (eltwise.forward, ((5, 40), "tanh")),
    (eltwise.backward, ((5, 40), "relu")),
    (eltwise.backward, ((5, 40), "tanh", True, True)),
    (eltwise.binary, ("add", (5, 40), (40,))),
    (softmax.forward, ((5, 40),)),
]


@serving
@pytest.mark.parametrize(("planner", "arguments"), SHARED, ids=[f"{p.__name__}{a}" for p, a in SHARED])
def test_an_array_that_is_read_may_be_written(planner, arguments):
    plan = planner(*arguments)
    count = 1 if planner in (eltwise.forward, softmax.forward) else 2
    inputs = [floats(40) if planner is eltwise.binary and i else floats(5, 40, seed=i) for i in range(count)]
    apart = run(plan, *inputs)
    assert plan.call.shares
    for place in plan.call.shares:
        given = [a.copy() for a in inputs]
        plan.call(*given, given[place])
        np.testing.assert_array_equal(given[place], apart)


CONVOLVED = ((1, 1, 1, 1), "SAME", (), "NHWC", (1, 1, 1, 1))


@serving
def test_relu_shows_what_is_no_number():
    """oneDNN's own relu makes NaN 0: a model that has gone wrong would look healthy. And -inf is no NaN behind it."""
    x = np.array([np.nan, -1, 0, 2, np.inf, -0.0, 1e-30, -1e30, -np.inf, 3e38, -3e38, 1e-45], np.float32)
    wanted = np.maximum(x, 0)
    np.testing.assert_array_equal(run(eltwise.forward(x.shape, "relu"), x), wanted)
    product = matmul.forward((40, 5), (5, 12), bias=True, activation="relu")
    found = run(product, np.zeros((40, 5), np.float32), np.zeros((5, 12), np.float32), x)
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, (40, 12)))
    image, kernel = np.zeros((2, 6, 6, 4), np.float32), np.zeros((3, 3, 4, 12), np.float32)
    convolution = conv.forward(image.shape, kernel.shape, *CONVOLVED, bias=True, activation="relu")
    np.testing.assert_array_equal(run(convolution, image, kernel, x), np.broadcast_to(wanted, (2, 6, 6, 12)))
    a, b = floats(4, 5), floats(5, 6)
    a[2, 3] = np.nan
    assert np.isnan(run(matmul.forward(a.shape, b.shape, activation="relu"), a, b)[2]).all()


@serving
@pytest.mark.parametrize("activation", [a for a in FUNCTIONS if a], ids=str)
def test_functions_and_their_slopes(activation):
    x, dy = floats(3, 50) * 3, floats(3, 50, seed=1)
    f = FUNCTIONS[activation]
    np.testing.assert_allclose(run(eltwise.forward(x.shape, activation), x), f(x), rtol=1e-5, atol=2e-6)
    h = 1e-3
    wide = x.astype(np.float64)
    slope = (f(wide + h) - f(wide - h)) / (2 * h)
    np.testing.assert_allclose(run(eltwise.backward(x.shape, activation), dy, x), dy * slope, atol=2e-3)


@serving
def test_slopes_in_place_and_of_results():
    y, dy = np.tanh(floats(40)), floats(40, seed=1)
    expected = dy * (1 - y * y)
    np.testing.assert_allclose(run(eltwise.backward((40,), "tanh", of_result=True), dy, y), expected, rtol=1e-5)
    eltwise.backward((40,), "tanh", of_result=True, data_first=True).call(y, dy, dy)
    np.testing.assert_allclose(dy, expected, rtol=1e-5)
    assert eltwise.backward((40,), "gelu", of_result=True) is None
    assert eltwise.forward((40,), "no such") is None


@serving
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "divide", "subtract"])
@pytest.mark.parametrize(("x", "y"), [((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 1))], ids=str)
def test_binary(name, x, y):
    a, b = floats(*x), floats(*y, seed=1)
    np.testing.assert_allclose(run(eltwise.binary(name, x, y), a, b), getattr(np, name)(a, b), rtol=1e-5)


@serving
@pytest.mark.parametrize(("name", "function"), [("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min)])
@pytest.mark.parametrize("keep_dims", [False, True])
def test_reduce(name, function, keep_dims):
    x = floats(3, 4, 50)
    plan = eltwise.reduce(name, x.shape, (-1,), keep_dims)
    np.testing.assert_allclose(run(plan, x), function(x, axis=-1, keepdims=keep_dims), rtol=1e-4, atol=1e-5)


@serving
@pytest.mark.parametrize(("dims", "perm"), [((3, 4), (1, 0)), ((2, 3, 4, 5), (0, 3, 1, 2)), ((5,), (0,))], ids=str)
def test_transpose(dims, perm):
    x = floats(*dims)
    np.testing.assert_array_equal(run(layout.transpose(dims, perm), x), x.transpose(perm))


@serving
@pytest.mark.parametrize("dims", [(5, 16), (2, 3, 33), (7, 1)], ids=str)
@pytest.mark.parametrize("scaled", [True, False])
def test_layer_norm(dims, scaled):
    x, dy, epsilon = floats(*dims) * 2 + 3, floats(*dims, seed=1), 1e-3
    scale, shift = (floats(dims[-1], seed=2), floats(dims[-1], seed=3)) if scaled else (np.float32(1), np.float32(0))
    wide, grad = x.astype(np.float64), dy.astype(np.float64)
    mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    inverse = 1 / np.sqrt(variance + epsilon)
    normal = (wide - mean) * inverse
    vectors = (scale, shift) if scaled else ()
    plan = norm.layer_norm(dims, epsilon, scaled)
    np.testing.assert_allclose(run(plan, x, *vectors), normal * scale + shift, rtol=1e-4, atol=1e-4)
    found = run(norm.layer_norm(dims, epsilon, scaled, statistics=True), x, *vectors)
    for a, b in zip(found, (normal * scale + shift, mean[..., 0], variance[..., 0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    g = grad * scale
    dx = inverse * (g - g.mean(-1, keepdims=True) - normal * (g * normal).mean(-1, keepdims=True))
    back = norm.layer_norm_back(dims, epsilon, scaled)
    got = run(back, dy, x, *found[1:], *vectors[:1])
    got = got if scaled else [got]
    axes = tuple(range(len(dims) - 1))
    wanted = (dx, (grad * normal).sum(axes), grad.sum(axes)) if scaled else (dx,)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=2e-3)


@serving
def test_softmax_back():
    x, dy = floats(4, 30), floats(4, 30, seed=1)
    y = run(softmax.forward(x.shape), x)
    expected = (dy - (dy * y).sum(-1, keepdims=True)) * y
    np.testing.assert_allclose(run(softmax.backward(x.shape), dy, y), expected, atol=1e-6)


@serving
def test_filter_and_bias_gradients_together():
    x, dy = floats(2, 8, 8, 5), floats(2, 8, 8, 6)
    df, db = run(conv.to_filter(x.shape, (3, 3, 5, 6), dy.shape, ONES, "SAME", bias=True), x, None, dy)
    alone = run(conv.to_filter(x.shape, (3, 3, 5, 6), dy.shape, ONES, "SAME"), x, None, dy)
    np.testing.assert_allclose(df, alone, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(db, dy.sum((0, 1, 2)), rtol=1e-4, atol=1e-4)


@serving
@pytest.mark.parametrize("kind", ["u8", "s8"])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_products_of_bytes_are_exact(kind, transpose_b):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 256, (33, 300)).astype(np.uint8).view(np.int8 if kind == "s8" else np.uint8)
    b = rng.integers(-128, 128, (40, 300) if transpose_b else (300, 40)).astype(np.int8)
    found = run(matmul.bytes_product(a.shape, b.shape, kind, False, transpose_b), a, b, dtype=np.int32)
    np.testing.assert_array_equal(found, a.astype(np.int32) @ (b.T if transpose_b else b).astype(np.int32))


@serving
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_convolutions_of_bytes_are_exact(data_format):
    rng = np.random.default_rng(0)
    x, f = rng.integers(0, 256, (2, 9, 9, 8)).astype(np.uint8), rng.integers(-128, 128, (3, 3, 8, 16)).astype(np.int8)
    strides = (1, 2, 2, 1)
    if data_format == "NCHW":
        x, strides = np.moveaxis(x, -1, 1).copy(), (1, 1, 2, 2)
    attrs = {"strides": strides, "padding": "SAME", "data_format": data_format}
    expected = reference(
        registry["Conv2D"], [x.astype(np.int32), f.astype(np.int32)], settled(registry["Conv2D"], attrs)
    )
    found = run(conv.of_bytes(x.shape, f.shape, strides, "SAME", (), data_format), x, f, dtype=np.int32)
    np.testing.assert_array_equal(found, expected[0])


# --- random cases -----------------------------------------------------------------------------------------------------


@serving
@pytest.mark.parametrize("seed", range(40))
def test_random_convolution(seed, monkeypatch):
    monkeypatch.setattr(chain, "ALONE", -1 if seed % 2 else 100)  # with all threads, and with one
    check_conv(seed)


@serving
@pytest.mark.parametrize("seed", range(20))
def test_random_pooling(seed, monkeypatch):
    monkeypatch.setattr(chain, "ALONE", -1 if seed % 2 else 100)
    check_pool(seed)
