"""Odd arguments for every op: run as a program, in a process with little memory, it prints what went wrong.

    python -m tests.ops.fuzz [SEED] [OPS…]

Each op gets arguments drawn from a small zoo (empty, scalar, negative, huge, NaN, wrong rank, wrong type). It may
answer or refuse, with a `tf.errors` class, ValueError or TypeError; anything else (a crash, a NumPy IndexError, a
RecursionError, no answer for long) is a fault.
"""

from __future__ import annotations

import faulthandler
import random
import resource
import sys
import time
import warnings
import zlib

import numpy as np

import ebbflow as tf
import ebbflow.ops.foundation
from ebbflow.core import dtypes
from ebbflow.core.registry import registry

MEMORY = 3 * 2**30
ROUNDS = 12
SKIPPED = {
    "PyFunc",
    "PyFuncStateless",
    "EagerPyFunc",
    "Print",
    "PrintV2",
    "MutexLock",
    "ConsumeMutexLock",
    "If",
    "StatelessIf",
}
ALLOWED = (tf.errors.OpError, ValueError, TypeError)

SHAPES = [
    (),
    (0,),
    (1,),
    (2,),
    (3,),
    (2, 3),
    (0, 3),
    (3, 0),
    (3, 3),
    (1, 4, 4, 2),
    (2, 5, 5, 1),
    (2, 2, 2, 2, 2),
    (0, 2, 2, 1),
]
NUMBERS = [0, 1, -1, 2, 3, 7, -8, 100, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.5, 3.7, 1e30, -1e30, float("nan"), float("inf"), float("-inf")]


def odd_array(rng: random.Random, dtype: dtypes.DType) -> np.ndarray:
    shape = rng.choice(SHAPES)
    size = int(np.prod(shape))
    if dtype is dtypes.string:
        return np.array([rng.choice([b"", b"a", b"\xff\x00", b"7"]) for _ in range(size)], object).reshape(shape)
    if dtype is dtypes.bool:
        return np.array([rng.random() < 0.5 for _ in range(size)], bool).reshape(shape)
    if dtype.is_floating or dtype.is_complex:
        values = [rng.choice(FLOATS) for _ in range(size)]
        with np.errstate(all="ignore"):
            return np.array(values, np.float64).astype(dtype.np).reshape(shape)
    small = rng.random() < 0.7
    values = [rng.choice(NUMBERS[:7] if small else NUMBERS) for _ in range(size)]
    low, high = int(np.iinfo(dtype.np).min), int(np.iinfo(dtype.np).max)
    return np.array([min(max(v, low), high) for v in values], dtype.np).reshape(shape)


def odd_attr(rng: random.Random, attr) -> object:
    kind = attr.kind
    if attr.has_default and rng.random() < 0.6:
        return attr.default
    if attr.allowed and rng.random() < 0.9:
        found = rng.choice(attr.allowed)
        return [found] * rng.randint(0, 3) if kind.startswith("list(") else found
    return {
        "int": lambda: rng.choice([*NUMBERS[:8], 2**31, -(2**40)]),
        "float": lambda: rng.choice(FLOATS),
        "bool": lambda: rng.random() < 0.5,
        "string": lambda: rng.choice(["", "SAME", "VALID", "NHWC", "ij,jk->ik", "nope"]),
        "type": lambda: rng.choice([dtypes.float32, dtypes.int32, dtypes.string, dtypes.bool, dtypes.complex64]),
        "shape": lambda: rng.choice([None, (), (2,), (None, 3), (0, 2), (2**40, 2**40)]),
        "list(int)": lambda: [rng.choice([1, 2, 0, -1, 3, 2**31]) for _ in range(rng.choice([0, 1, 2, 4, 5]))],
        "list(float)": lambda: [rng.choice(FLOATS) for _ in range(rng.randint(0, 3))],
        "list(string)": lambda: ["a"] * rng.randint(0, 2),
        "list(shape)": lambda: [(2,)] * rng.randint(0, 2),
        "list(type)": lambda: [dtypes.float32] * rng.randint(0, 2),
    }.get(kind, lambda: None)()


def arguments(rng: random.Random, op) -> dict[str, object] | None:
    signature = op.signature
    kinds = {}
    for attr in signature.attrs.values():
        if attr.kind == "type":
            usable = [
                d
                for d in attr.allowed or dtypes.ALL
                if d.is_numpy_compatible and not d.is_quantized and d.name not in HARD
            ]
            kinds[attr.name] = rng.choice(usable) if usable else dtypes.float32
    given: dict[str, object] = {}
    for arg in signature.inputs:
        dtype = arg.type or kinds.get(arg.type_attr, dtypes.float32)
        if dtype in (dtypes.resource, dtypes.variant) or arg.is_ref:
            return None
        if arg.is_list:
            given[arg.name] = [odd_array(rng, dtype) for _ in range(rng.randint(0, 3))]
        else:
            given[arg.name] = odd_array(rng, dtype)
    for attr in signature.attrs.values():
        if attr.name not in signature.inferred:
            given[attr.name] = kinds[attr.name] if attr.kind == "type" and rng.random() < 0.9 else odd_attr(rng, attr)
    return {k: v for k, v in given.items() if v is not None or k == "shape"}


HARD = {"int4", "uint4", "int2", "uint2", "float4_e2m1fn", "string"}


def fault(op, given: dict[str, object], graph: bool) -> str | None:
    start = time.monotonic()
    try:
        if graph:
            with tf.Graph().as_default():
                outputs = op(**given)
                limit = tf.compat.v1.RunOptions(timeout_in_ms=200) if op.facts.waits else None
                tf.compat.v1.Session().run(outputs, options=limit)
        elif not op.facts.waits:  # a call of its own may rightly wait for ever
            op(**given)
    except ALLOWED:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    taken = time.monotonic() - start
    return f"took {taken:.0f} s" if taken > 20 else None


def main() -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    wanted = set(sys.argv[2:])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    calls = 0
    for name in registry.names():  # in one order, so that a seed means the same calls
        if name in SKIPPED or (wanted and name not in wanted):
            continue
        rng = random.Random(zlib.crc32(name.encode()) + seed)
        for _ in range(ROUNDS):
            given = arguments(rng, registry[name])
            if given is None:
                break
            for graph in (False, True):
                calls += 1
                print(f"@ {name}", file=sys.stderr, flush=True)
                wrong = fault(registry[name], given, graph)
                if wrong:
                    shown = {
                        k: v if not isinstance(v, np.ndarray) else f"{v.dtype}{list(v.shape)} {v.ravel()[:6].tolist()}"
                        for k, v in given.items()
                    }
                    print(
                        f"{name} ({'graph' if graph else 'eager'}): {wrong[:300]}\n    {str(shown)[:500]}", flush=True
                    )
    print(f"{calls} calls made")


if __name__ == "__main__":
    main()
