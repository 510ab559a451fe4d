"""The native functions: their errors in units of the last place, and what they make of zeros, infinities and NaN."""

import ctypes
import functools
import math

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

from ebbflow.engines.native.arithmetic.functions import BINARY, NAMES, function
from ebbflow.engines.native.scalar import TYPES, allow_ldexp

FLOATS = {"f32": np.float32, "f64": np.float64}
UINTS = {"f32": np.uint32, "f64": np.uint64}
INF, NAN = math.inf, math.nan
Wide = np.longdouble


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def elu(x):
    return np.where(x < 0, np.expm1(np.minimum(x, 0)), x)


def selu(x):
    scale, alpha = Wide("1.0507009873554805"), Wide("1.6732632423543772")
    return np.where(x < 0, scale * alpha * np.expm1(np.minimum(x, 0)), scale * x)


def each(f):
    return lambda x: np.array([f(v) for v in x.astype(np.float64).tolist()], Wide)


# op: what it is in more bits, where it is tried (ends of a uniform range), the largest error in float32 and float64.
# The range of every function is also swept by magnitude, from the smallest number to the largest, with both signs.
CASES = {
    "exp": (np.exp, (-745, 710), 1, 1),
    "expm1": (np.expm1, (-3, 3), 2, 2),
    "elu": (elu, (-3, 3), 2, 2),
    "selu": (selu, (-3, 3), 4, 4),  # two constants are rounded too
    "log": (np.log, (0, 4), 1.2, 1.2),
    "log1p": (np.log1p, (-1, 4), 2, 2),
    "tanh": (np.tanh, (-3, 3), 2, 2.1),
    "sigmoid": (sigmoid, (-20, 20), 2, 2),
    "softplus": (softplus, (-20, 20), 3, 3),  # 2, but for results below the normal numbers
    "erf": (each(math.erf), (-4, 4), 2, 3),  # C's double may be wrong by 1 too
    "erfc": (each(math.erfc), (-4, 4), 5, 5),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0, 4), 1.5, 1.5),
    "sinh": (np.sinh, (-3, 3), 3, 3),
    "cosh": (np.cosh, (-3, 3), 2, 2),
    "asinh": (np.arcsinh, (-3, 3), 3, 3),
    "acosh": (np.arccosh, (1, 4), 3, 3),
    "atanh": (np.arctanh, (-1, 1), 3, 3),
    "sin": (np.sin, (-1000, 1000), 2, 3),
    "cos": (np.cos, (-1000, 1000), 2, 3),
    "tan": (np.tan, (-1000, 1000), 4, 4),
    "asin": (np.arcsin, (-1, 1), 3, 3),
    "acos": (np.arccos, (-1, 1), 3, 3),
    "atan": (np.arctan, (-3, 3), 3, 3),
    "atan2": (np.arctan2, (-3, 3), 4, 4),
    "pow": (np.power, (-9, 9), 1, 2),
}


@functools.cache
def target_machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )


def add_loop(module: ir.Module, name: str, kind: str) -> None:
    """Add to the module a loop that calls the function on every element of its arrays."""
    count, size = 2 if name in BINARY else 1, ir.IntType(64)
    pointers = [TYPES[kind].as_pointer()] * (count + 1)
    loop = ir.Function(module, ir.FunctionType(ir.VoidType(), [*pointers, size]), "loop")
    *inputs, output, length = loop.args
    output.add_attribute("noalias")
    entry, body, end = (loop.append_basic_block(block) for block in ("entry", "body", "end"))
    ir.IRBuilder(entry).branch(body)
    builder = ir.IRBuilder(body)
    i = builder.phi(size)
    result = builder.call(function(module, name, kind), [builder.load(builder.gep(a, [i])) for a in inputs])
    builder.store(result, builder.gep(output, [i]))
    following = builder.add(i, size(1))
    i.add_incoming(size(0), entry)
    i.add_incoming(following, body)
    builder.cbranch(builder.icmp_unsigned("<", following, length), body, end)
    ir.IRBuilder(end).ret_void()


@functools.cache
def compiled(name: str, kind: str, ldexp: bool = False):
    """Return the function on arrays, and the assembly of its loop."""
    module = ir.Module()
    if ldexp:
        allow_ldexp(module)
    add_loop(module, name, kind)
    machine = target_machine()
    code = llvm.parse_assembly(str(module))
    code.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(code, builder)
    assembly = machine.emit_assembly(code)
    engine = llvm.create_mcjit_compiler(code, machine)
    count = 2 if name in BINARY else 1
    address = engine.get_function_address("loop")
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (count + 1), ctypes.c_int64)(address)

    def call(*arrays: np.ndarray) -> np.ndarray:
        arrays = [np.ascontiguousarray(a, FLOATS[kind]) for a in np.broadcast_arrays(*arrays)]
        result = np.empty_like(arrays[0])
        entry(*(a.ctypes.data for a in (*arrays, result)), result.size)
        return result

    call.engine = engine  # owns the code
    return call, assembly


def error(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return how far `found` is from `exact` (which has more bits), in units of the last place of the result."""
    kind = found.dtype
    with np.errstate(all="ignore"):
        rounded = exact.astype(kind)
        unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(kind).max)).astype(Wide)
        same = (found == rounded) & (np.isinf(rounded) | (rounded == 0)) | np.isnan(found) & np.isnan(rounded)
        distance = np.abs(found.astype(Wide) - exact) / unit
        edge = np.isinf(rounded) & (np.abs(found) == np.finfo(kind).max)  # one below the end of the range
    return np.where(same, 0, np.where(edge, 1, np.where(np.isnan(distance), np.inf, distance)))


def samples(kind: str, ends: tuple[float, float], seed: int, count: int = 20000) -> np.ndarray:
    """Return numbers between the ends, numbers of all magnitudes (any bits at all), and small and moderate ones."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, np.iinfo(UINTS[kind]).max, count, UINTS[kind], endpoint=True).view(FLOATS[kind])
    moderate = np.exp2(random.uniform(-30, 12, count)) * random.choice([-1, 1], count)
    edges = [0.0, 0.5, 1.0, 2.0, math.pi, math.log(2) / 2, math.sqrt(0.5), math.sqrt(2), np.finfo(FLOATS[kind]).tiny]
    near = [np.nextafter(FLOATS[kind](e), FLOATS[kind](to)) for e in edges for to in (-9, 9)]
    parts = random.uniform(*ends, count), moderate, edges, near
    return np.concatenate([bits, *(np.array(p, FLOATS[kind]) for p in parts)])


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", CASES)
def test_error(name, kind):
    if name not in NAMES[kind]:
        pytest.skip(f"there is no {name} for {kind}")
    exact, ends, *limits = CASES[name]
    arrays = [samples(kind, ends, seed) for seed in range(2 if name in BINARY else 1)]
    call, _ = compiled(name, kind)
    with np.errstate(all="ignore"):
        errors = error(call(*arrays), exact(*(a.astype(Wide) for a in arrays)))
    limit = limits[kind == "f64"] + (1 if np.finfo(Wide).nmant < 63 else 0)  # no more bits here: ours and theirs
    worst = int(np.argmax(errors))
    assert errors[worst] <= limit, [(float(a[worst]), float(call(a[worst : worst + 1])[0])) for a in arrays]


# zeros, infinities, NaN, what is too small to be normal, ends of the range, and whole numbers for pow
SPECIAL = [0.0, 1e-45, 1e-40, 2e-38, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 88.8, 104.0, 710.0, 2.0**24 + 2, 1e15, 3e38, INF]
SPECIAL_F64 = [5e-324, 1e-310, 3e-308, 2.0**52 + 1, 2.0**53 + 2, 1e20, 1.7e308]


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", CASES)
def test_special_values(name, kind):
    exact, _, *limits = CASES[name]
    sizes = SPECIAL + (SPECIAL_F64 if kind == "f64" else [])
    values = np.array([NAN] + sizes + [-v for v in sizes], FLOATS[kind])
    arrays = [a.ravel() for a in np.meshgrid(values, values)] if name in BINARY else [values]
    with np.errstate(all="ignore"):
        found, wanted = compiled(name, kind)[0](*arrays), exact(*(a.astype(Wide) for a in arrays))
        rounded = wanted.astype(FLOATS[kind])
    wrong = error(found, wanted) > max(limits)
    wrong |= (np.signbit(found) != np.signbit(rounded)) & ~np.isnan(rounded)
    assert not wrong.any(), list(zip(*(a[wrong] for a in (*arrays, found, rounded))))


# x, sin x, cos x: of all numbers of a kind, the nearest to a multiple of π / 2, and the largest (computed with mpmath)
HARD_ANGLES = [
    ("f32", 16367173 * 2.0**72, 1.0, -1.6147697982476211e-09),
    ("f32", 3.4028234663852886e38, -0.5218765233336585, 0.8530210398303042),
    ("f64", 6381956970095103 * 2.0**797, 1.0, -4.687165924254628e-19),
    ("f64", 1.7976931348623157e308, 0.004961954789184062, -0.9999876894265599),
    ("f64", 1e22, -0.8522008497671888, 0.523214785395139),
]


@pytest.mark.parametrize("kind, x, sine, cosine", HARD_ANGLES)
def test_large_angles(kind, x, sine, cosine):
    for name, exact in ("sin", sine), ("cos", cosine), ("tan", sine / cosine):
        found = compiled(name, kind)[0](np.array([x]))
        assert error(found, np.array([exact], Wide)) <= 4, name


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", CASES)
def test_loops_become_vector_code(name, kind):
    features = llvm.get_host_cpu_features()
    if not (features.get("avx2") and features.get("fma")):
        pytest.skip("this processor has no AVX2 with fused multiply-add")
    _, assembly = compiled(name, kind)
    assert "call" not in assembly
    assert "%ymm" in assembly or "%zmm" in assembly


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ["exp", "sigmoid", "cosh", "erfc", "pow"])
def test_ldexp_changes_no_bit(name, kind):
    arrays = [samples(kind, (-100, 100), seed, 2000) for seed in range(2 if name in BINARY else 1)]
    (plain, _), (scaled, assembly) = compiled(name, kind), compiled(name, kind, ldexp=True)
    np.testing.assert_array_equal(plain(*arrays), scaled(*arrays))
    if llvm.get_host_cpu_features().get("avx512f") and (name, kind) != ("pow", "f32"):  # which stays in float64's range
        assert "vscalef" in assembly


def test_every_function_has_a_case():
    assert NAMES["f32"] | NAMES["f64"] == set(CASES)


def test_a_module_has_each_function_once():
    module = ir.Module()
    assert function(module, "exp", "f32") is function(module, "exp", "f32")
    assert function(module, "exp", "f64") is not function(module, "exp", "f32")


def test_error_tells_one_unit_from_three():
    exact = np.array([1.5, 1e-310, INF, 0.0], Wide)
    found = np.array([1.5 + 3 * 2.0**-52, 1e-310 + 5e-324, -INF, 1.0])
    assert error(found, exact).tolist()[0] == 3.0
    assert 0.5 <= error(found, exact)[1] <= 1.5
    assert error(found, exact)[2:].min() > 1e6
