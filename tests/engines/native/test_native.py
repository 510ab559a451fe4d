"""Machine code against the ops' own kernels: every row, odd numbers, odd shapes, and what the code refuses."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.registry import registry
from ebbflow.engines.native import library
from ebbflow.engines.native.kernel import Kernel
from ebbflow.engines.native.lowering import OPS, Refused
from ebbflow.engines.native.lowerings import convolution, elementwise
from ebbflow.ops.declare import raw
from tests.engines.native import cases as native_cases
from tests.engines.native.regions import FLOATS, array, by_code, by_numpy, region, same, special

# --- element-wise rows ------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "Exp": 3, "Expm1": 4, "Log": 3, "Log1p": 4, "Tanh": 4, "Sigmoid": 4, "Softplus": 4, "Erf": 6, "Erfc": 8, "Sin": 4,
    "Cos": 4, "Pow": 4,

    "Tan": 6, "Asin": 4, "Acos": 4, "Atan": 4, "Sinh": 4, "Cosh": 4, "Asinh": 4, "Acosh": 4, "Atanh": 4, "Atan2": 5,
    "Elu": 4, "Selu": 5, "SoftplusGrad": 4, "Xlogy": 4, "Xlog1py": 5,
}  # fmt: skip
"""Units of the last place by which a function may differ: ours is a few off, NumPy's and C's may be too."""

SIGNLESS_ZERO = {"Maximum", "Minimum", "Relu", "Relu6", "LeakyRelu"}
"""Which zero is the larger NumPy decides differently for long and for short arrays."""

ALIKE = ("Grad", "AddN", "BiasAdd", "SelectV2")
"""Ops (by how their names end) whose inputs must be of one shape."""

ELEMENTWISE = sorted({*elementwise.FORMULAS, *elementwise.BOOLS, *elementwise.ANY, *elementwise.FLOATS})


def calls(names, dtype):
    """Return a function of x and y (all pairs of special values) that computes each op, and what it takes."""
    values = special(dtype)
    x, y = (np.ascontiguousarray(a).reshape(-1) for a in np.meshgrid(values, values, indexing="ij"))

    def compute(x, y, one, other, choice):
        found = []
        ends = values[np.argsort(values)[[1, len(values) * 9 // 10]]]
        for name in names:
            count = len(registry[name].signature.inputs)
            if name == "AddN":
                found.append(raw.AddN(inputs=[x, y, x]))
            elif name == "ClipByValue":
                found += [raw.ClipByValue(x, y, raw.Maximum(y, x)), raw.ClipByValue(x, *ends)]
            elif name == "SelectV2":
                found += [tf.where(choice, x, y), tf.where(choice, x, other[0, 1])]
            elif count == 1:
                found.append(getattr(raw, name)(x))
            else:
                found.append(getattr(raw, name)(x, y))
                if not name.endswith(ALIKE):
                    found += [getattr(raw, name)(one, other), getattr(raw, name)(one, other[0, 3 % len(values)])]
        return found

    return compute, [x, y, values[:, None], values[None], array(x.shape, "bool")]


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64", "bool"])
def test_arithmetic_is_the_same_to_the_last_bit(dtype):
    kind = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool"}[dtype]
    names = [n for n in ELEMENTWISE if n not in FUNCTIONS and elementwise.formula(n, {}, [kind] * 3) is not None]
    fn, arrays = calls(names, dtype)
    flow = region(fn, *arrays)
    assert {n.op.name for n in flow.nodes} >= set(names)
    compare(flow, arrays)


def compare(flow, arrays, ulps=FUNCTIONS):
    """Check each result of a region; its error names the op it comes from."""
    for value, found, wanted in zip(flow.outputs, by_code(flow, arrays), by_numpy(flow, arrays), strict=True):
        name = made_by(value)
        try:
            same(found, wanted, ulps.get(name, 0), zeros=name not in SIGNLESS_ZERO)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def made_by(value):
    """Return the op whose result a function returns: there is an Identity behind it."""
    while value.node is not None and value.node.op.name == "Identity":
        value = value.node.inputs[0]
    return value.node.op.name if value.node is not None else "argument"


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_are_right_to_a_few_units(dtype):
    fn, arrays = calls(FUNCTIONS, dtype)
    compare(region(fn, *arrays), arrays)


@pytest.mark.parametrize("dtype", FLOATS)
def test_leaky_relu(dtype):
    x, g = special(dtype), special(dtype)[::-1].copy()
    alphas = [0.2, 0.0, 1.0, 1.5, -0.5]

    def fn(x, g):
        return [raw.LeakyRelu(x, alpha=a) for a in alphas] + [raw.LeakyReluGrad(g, x, alpha=a) for a in alphas]

    compare(region(fn, x, g), [x, g], {})


# --- rows of OPS ------------------------------------------------------------------------------------------------------

SOME = [(name, dtype) for name, (_, _, dtypes, _) in native_cases.CASES.items() for dtype in dtypes]


@pytest.mark.parametrize("name,dtype", SOME)
def test_rows(name, dtype):
    flow, arrays = case_of(name, dtype)
    compare_all(flow, arrays, native_cases.CASES[name][3] if dtype in FLOATS else 0)


def case_of(name, dtype):
    fn, shapes, _, _ = native_cases.CASES[name]
    arrays = [array(dims, dtype, seed) for seed, dims in enumerate(shapes)]
    return region(fn, *arrays), arrays


def compare_all(flow, arrays, loose):
    for number, (found, wanted) in enumerate(zip(by_code(flow, arrays), by_numpy(flow, arrays), strict=True)):
        try:
            same(found, wanted, loose=loose)
        except AssertionError as error:
            raise AssertionError(f"result {number}, of {made_by(flow.outputs[number])}: {error}") from None


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("m,k,n", native_cases.PRODUCTS)
def test_products(m, k, n, dtype):
    arrays = [array((m, k), dtype), array((k, n), dtype)]
    compare_all(region(native_cases.products, *arrays), arrays, 1e-5 if dtype == "float32" else 1e-13)


GATHERS = [np.array([2, 0, 4], np.int32), np.array([[1, 3], [0, 0]], np.int64), np.array(3, np.int32)]


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_gathers(dtype):
    arrays = [array((5, 6), dtype), *GATHERS]
    flow = region(native_cases.gathered, *arrays)
    compare_all(flow, arrays, 1e-6 if dtype in FLOATS else 0)
    kernel = Kernel(flow)
    outputs = [np.full(v.dims, 7, v.dtype.np) for v in flow.outputs]
    for at, bad in ((1, 5), (1, -1), (2, 6), (3, 5)):
        wrong = [a.copy() for a in arrays]
        wrong[at].flat[0] = bad
        assert kernel.call(*wrong, *outputs) is False
        assert all((o == 7).all() for o in outputs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_and_casts_of_odd_numbers(dtype):
    values = special(dtype)
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(values, values))
    near = np.array([2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**24 + 1, 2.0**63, -(2.0**63), 0.9, -0.9], dtype)

    def fn(x, y, near):
        found = [raw.FloorMod(x, y), raw.Mod(x, y), raw.TruncateMod(x, y)]
        return found + [tf.cast(v, t) for v in (x, near, near - 0.5) for t in (tf.int32, tf.int64)]

    compare(region(fn, x, y, near), [x, y, near])


@pytest.mark.parametrize("columns", native_cases.COLUMNS)
def test_softmax_and_its_kin(columns):
    arrays = native_cases.softmax_case(3, columns, FLOATS[columns % 2])
    compare_all(region(native_cases.softmaxes, *arrays), arrays, 1e-5)


def test_every_row_has_a_case():
    """The rows of `ELEMENTWISE` are walked above; here those of `OPS`.

    Variables and loops have theirs in tests/compiler, convolutions in test_native_winograd.py.
    """
    seen = {n.op.name for name, dtype in SOME for n in case_of(name, dtype)[0].nodes}
    for fn, arrays in (
        (native_cases.softmaxes, native_cases.softmax_case(3, 7, "float32")),
        (native_cases.products, [array((3, 4)), array((4, 5))]),
        (native_cases.gathered, [array((5, 6)), *GATHERS]),
    ):
        seen |= {n.op.name for n in region(fn, *arrays).nodes}
    with_variables = {
        "ReadVariableOp",
        "_ReadReference",
        "_Update",
        *[name for name in OPS if name.startswith("Assign")],
    }
    in_loops = {
        "StatelessWhile",
        "_OpenLoop",
        "StatelessIf",
        "FakeParam",
        *[name for name in OPS if "TensorList" in name],
    }
    assert sorted(set(OPS) - seen - with_variables - in_loops - convolution.NAMES) == []
    assert sorted({*elementwise.LEAKY, *FUNCTIONS} - {"LeakyRelu", "LeakyReluGrad", *ELEMENTWISE}) == []


# --- odd regions ------------------------------------------------------------------------------------------------------


def test_results_that_are_each_other():
    def fn(x, y):
        z = tf.exp(x)
        return [z, z, tf.identity(z), x, tf.transpose(x), tf.transpose(z), z * y, tf.reshape(z, [-1]), y[1:], y[1:]]

    arrays = [array((3, 4)), array((3, 4), seed=1)]
    flow = region(fn, *arrays)
    flow.outputs = [*flow.outputs, flow.outputs[0]]
    compare_all(flow, arrays, 1e-6)


@pytest.mark.parametrize("columns", [*range(1, 41, 3)])
def test_chains_over_odd_rows(columns):
    def fn(x, row, column):
        chain = tf.tanh(x * row + column) - tf.reduce_mean(x, 1, keepdims=True)
        scaled = chain / tf.sqrt(tf.reduce_mean(tf.square(chain), 0) + 1.0)
        return [chain, scaled, tf.reduce_sum(scaled * chain), tf.transpose(scaled) * 2.0, tf.nn.softmax(scaled)]

    arrays = [array((5, columns)), array((columns,)), array((5, 1))]
    compare_all(region(fn, *arrays), arrays, 1e-5)


@pytest.mark.parametrize("dims", [(), (1,), (1, 1), (4, 1), (1, 4), (1, 4, 1), (2, 1, 3), (7,), (2, 0)])
def test_shapes_of_one_and_none(dims):
    def fn(x, one):
        turned = tf.transpose(x)
        return [x * 2 + one, turned * 3, tf.exp(turned) - 1.0, tf.reduce_sum(x), tf.transpose(turned + 1) * x, x > one]

    arrays = [array(dims), np.array(0.5, np.float32)]
    compare_all(region(fn, *arrays), arrays, 1e-6)


def test_constants_of_every_kind():
    odd = [np.nan, -0.0, np.inf, 1e-45, 3.4028235e38]

    def fn(x):
        numbers = [
            tf.constant(c) for c in (np.float32(odd), np.float32([2, 2]), np.array([[True, False]]), np.int64(-3))
        ]
        return [
            *numbers,
            *[x * np.float32(c) for c in odd],
            tf.constant(np.zeros([2, 2])),
            x + tf.constant([0.0, -0.0]),
        ]

    arrays = [np.float32([0.0, -0.0])]
    compare_all(region(fn, *arrays), arrays, 0)


# --- what is refused --------------------------------------------------------------------------------------------------


class Sub(np.ndarray):
    pass


def readonly(a):
    a.flags.writeable = False
    return a


def aside(a):
    """Return an array that begins between two numbers."""
    return np.frombuffer(bytearray(a.nbytes + 1), np.uint8)[1:].view(a.dtype).reshape(a.shape)


REFUSALS = {
    "gaps": (0, lambda a: np.zeros([3, 8], np.float32)[:, ::2]),
    "columns first": (0, np.asfortranarray),
    "another dtype": (0, lambda a: a.astype(np.float64)),
    "another order of bytes": (0, lambda a: a.astype(a.dtype.newbyteorder())),
    "another shape": (0, lambda a: a.reshape(4, 3)),
    "another rank": (0, lambda a: a.reshape(-1)),
    "more rows": (0, lambda a: np.zeros([4, 4], np.float32)),
    "a subclass": (0, lambda a: a.view(Sub)),
    "no array": (0, lambda a: a.tolist()),
    "nothing": (0, lambda a: None),
    "a number": (0, lambda a: 1.5),
    "between two numbers": (0, aside),
    "a result that may not be written": (2, readonly),
    "a result with gaps": (2, lambda a: np.zeros([3, 8], np.float32)[:, ::2]),
    "a result of another shape": (2, lambda a: np.zeros([3, 3], np.float32)),
    "a result of another dtype": (3, lambda a: np.zeros([3, 4], np.int8)),
}


@pytest.fixture(scope="module")
def two():
    flow = region(lambda x, y: [x * y, x > y], array((3, 4)), array((3, 4)))
    return Kernel(flow)


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_touch_nothing(name, two):
    at, change = REFUSALS[name]
    given = [array((3, 4)), array((3, 4), seed=1), np.full([3, 4], 7, np.float32), np.ones([3, 4], bool)]
    given[at] = change(given[at])
    kept = [np.array(g) for g in given]
    assert two.call(*given) is False
    for now, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(np.array(now), before)


def test_the_number_of_arguments(two):
    given = [array((3, 4)), array((3, 4), seed=1), np.full([3, 4], 7, np.float32), np.ones([3, 4], bool)]
    for count in range(4):
        assert two.call(*given[:count]) is False
    assert two.call(*given, given[0]) is False
    assert (given[2] == 7).all() and given[3].all()
    assert two.call(*map(readonly, given[:2]), *given[2:]) is True
    np.testing.assert_array_equal(given[2], given[0] * given[1])
    with pytest.raises(TypeError):
        two.call(*given, out=None)


@pytest.mark.parametrize("bad", [-1, 5, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("how", ["given", "as a column"])
def test_labels_that_are_no_classes(bad, how):
    given = array((4,), "int32") * 0 if how == "given" else array((4, 3), "int32") * 0 + [1, -9, 77]
    given = given.astype(np.int32)

    def fn(x, labels):
        labels = labels if how == "given" else labels[:, 0]
        return raw.SparseSoftmaxCrossEntropyWithLogits(x, labels)[0] * 2

    kernel = Kernel(region(fn, array((4, 5)), given))
    out = np.full(4, 7, np.float32)
    assert kernel.call(array((4, 5)), given, out) is True
    out[:] = 7
    given[(2, 0)[: given.ndim]] = bad
    assert kernel.call(array((4, 5)), given, out) is False
    assert (out == 7).all()


def test_labels_that_are_made_inside():
    def near(x, labels):
        return raw.SparseSoftmaxCrossEntropyWithLogits(x, tf.cast(labels, tf.int64) + 1)[0] * 2.0

    def far(x, labels):
        return raw.SparseSoftmaxCrossEntropyWithLogits(x, tf.argmax(x, 1))[0] * 2.0

    arrays = [array((4, 5)), np.array([0, 1, 3, 2], np.int32)]
    compare_all(region(near, *arrays), arrays, 1e-5)
    arrays[1][2] = 4
    assert Kernel(region(near, *arrays)).call(*arrays, np.zeros(4, np.float32)) is False
    with pytest.raises(Refused, match="must be given"):
        Kernel(region(far, *arrays))


def test_an_engine_that_does_not_know_its_arrays(monkeypatch):
    assert library._laid_out_as_expected()
    for name in ("DATA", "RANK", "DIMS", "DTYPE", "FLAGS", "TYPE"):
        with monkeypatch.context() as patch:
            patch.setattr(library, name, {"RANK": 28, "TYPE": 0}.get(name, 72))
            assert not library._laid_out_as_expected(), name
    monkeypatch.setattr(library, "_laid_out_as_expected", lambda: False)
    assert not library.available.__wrapped__()
    monkeypatch.undo()
    monkeypatch.setattr(library.importlib.util, "find_spec", lambda name: None)
    assert not library.available.__wrapped__()


def test_code_is_dropped_without_waiting_for_the_compiler():
    text = "define ptr @entry(ptr %self, ptr %objects, i64 %count) {\n  ret ptr null\n}\n"
    compiling, done = threading.Event(), threading.Event()

    def compile():
        with library._lock:
            compiling.set()
            done.wait(60)

    thread = threading.Thread(target=compile)
    code = library.Code(text, {})
    thread.start()
    try:
        compiling.wait(60)
        del code
        assert len(library._gone) == 1
    finally:
        done.set()
        thread.join()
    library.Code(text, {})
    assert not library._gone
