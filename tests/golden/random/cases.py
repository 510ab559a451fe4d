"""Programs that draw random numbers: what TensorFlow was asked, and what Ebbflow is asked in the test.

A case is a list of calls, played eagerly, in a graph (fetched several times over), or on a generator; `judges` says
which TensorFlow answered. The tables know no TensorFlow and run on Python 3.7 too.
"""

import base64
import hashlib
import itertools

BOTH = ("1.15", "2.21")
NEW = ("2.21",)
FLOATS = ("float16", "bfloat16", "float32", "float64")
LARGE = 256
"""Results of more elements than this are recorded as a digest and their first few elements."""


class Value:
    """A tensor argument: dtype and nested list."""

    def __init__(self, dtype, data):
        self.dtype, self.data = dtype, data


class Case:
    """Calls to be played one after the other."""

    def __init__(self, name, where, calls, seed=None, judges=BOTH, runs=1, double=False):
        self.name, self.where, self.calls, self.seed = name, where, calls, seed
        self.judges, self.runs, self.double = judges, runs, double


def call(function, **arguments):
    return function, arguments


CASES = []


def add(name, where, calls, **facts):
    CASES.append(Case(name, where, calls, **facts))


def draw(kind, shape, **more):
    return call({"n": "random_normal", "u": "random_uniform", "t": "truncated_normal"}[kind], shape=shape, **more)


def integers(shape, low, high, dtype="int32", **more):
    return call("random_uniform", shape=shape, minval=low, maxval=high, dtype=dtype, **more)


# --- seeds ------------------------------------------------------------------------------------------------------------

SEEDS = (0, 1, 2, 42, 1234, 87654321, 2**31 - 2, 2**31 - 1, 2**31, 2**40 + 7, -1, -2, -12345)
MIXTURE = [
    draw("n", [3]),
    draw("n", [3]),
    draw("u", [5]),
    integers([4], 0, 100),
    draw("t", [6]),
    draw("n", [2, 3], seed=7),
    draw("n", [2, 3], seed=7),
    call("random_shuffle", value=Value("int32", [1, 2, 3, 4, 5, 6, 7])),
    draw("u", [2], seed=0),
]
for _seed in SEEDS:
    add(f"eager seed {_seed}", "eager", MIXTURE, seed=_seed)
    add(f"graph seed {_seed}", "graph", MIXTURE, seed=_seed, runs=3)

for _seed in (0, 1, 5, 2**31 - 1, 2**33, -3):
    _calls = [draw(kind, [n], seed=_seed) for n in (3, 5, 2) for kind in "nut"]
    add(f"eager op seed {_seed}", "eager", _calls)
    add(f"graph op seed {_seed}", "graph", _calls, runs=2)

add(
    "eager seeds set again",
    "eager",
    [
        draw("n", [2]),
        draw("n", [2], seed=3),
        call("set_random_seed", seed=9),
        draw("n", [2]),
        draw("n", [2], seed=3),
        draw("n", [2], seed=3),
        call("set_random_seed", seed=9),
        draw("n", [2]),
        draw("n", [2], seed=3),
    ],
    seed=5,
)
add(
    "eager streams apart",
    "eager",
    [
        draw("n", [2], seed=3),
        draw("n", [2], seed=3, dtype="float16"),
        draw("t", [2], seed=3),
        draw("n", Value("int64", [2]), seed=3),
        draw("n", [2], seed=3),
        draw("n", Value("int64", [2]), seed=3),
        integers([3], 0, 9, seed=3),
        integers([3], 0, 1000, seed=3),
        integers([3], 0, 9, dtype="int64", seed=3),
    ],
    seed=11,
)
add(
    "graph counting nodes",
    "graph",
    [
        call("constant", value=1.0),
        draw("n", [3]),
        call("constant", value=[1, 2]),
        call("constant", value=3.0),
        draw("u", [3]),
        draw("u", [3], minval=-1.0, maxval=1.0),
        integers([3], 0, 5),
        draw("t", [3], mean=1.0, stddev=0.5),
        call("random_shuffle", value=Value("float32", [1.0, 2.0, 3.0])),
        call("multinomial", logits=Value("float32", [[0.1, 0.9]]), num_samples=4),
        call("random_gamma", shape=[2], alpha=0.5),
        call("random_poisson", shape=[2], lam=3.0),
        call("random_crop", value=Value("int32", [[1, 2, 3], [4, 5, 6]]), size=[1, 2]),
        draw("n", [1]),
    ],
    seed=3,
    runs=2,
)
add("graph unnamed seed zero", "graph", [draw("u", [2], seed=0), draw("u", [2], seed=2**31 - 1)], seed=0, runs=2)

# --- shapes, types, parameters ----------------------------------------------------------------------------------------

for _kind, _dtype in itertools.product("unt", FLOATS):
    _double = _dtype == "float64" and _kind != "u"
    _shapes = ([], [0], [1], [2, 0, 3], [7], [3, 3, 2], [2, 50])
    _calls = [draw(_kind, shape, dtype=_dtype, seed=i + 1) for i, shape in enumerate(_shapes)]
    add(f"shapes {_kind} {_dtype}", "eager", _calls, double=_double)
    add(
        f"many {_kind} {_dtype}",
        "eager",
        [draw(_kind, [70001], dtype=_dtype, seed=i) for i in (4, 4)],
        double=_double,
    )

for _dtype, _low, _high in (
    ("int32", -7, 13),
    ("int32", 0, 1),
    ("int32", -(2**31), 2**31 - 1),
    ("int32", 5, 2**31 - 1),
    ("int64", -7, 13),
    ("int64", 0, 2**63 - 1),
    ("int64", -(2**63), 2**63 - 1),
    ("int64", 2**40, 2**40 + 3),
):
    _calls = [integers(shape, _low, _high, _dtype, seed=2) for shape in ([5], [2, 3], [0], [], [1001])]
    add(f"integers {_dtype} {_low} {_high}", "eager", _calls)

for _dtype in FLOATS:
    _parameters = [
        draw("n", [9], mean=3.0, stddev=0.25, dtype=_dtype, seed=1),
        draw("t", [9], mean=-1.0, stddev=10.0, dtype=_dtype, seed=1),
        draw("u", [9], minval=-3.0, maxval=5.0, dtype=_dtype, seed=1),
        draw("u", [9], maxval=7.0, dtype=_dtype, seed=1),
        draw("u", [9], minval=0, maxval=7, dtype=_dtype, seed=1),
        draw("n", [2, 2], mean=Value(_dtype, [1.0, 2.0]), stddev=Value(_dtype, [[0.5], [3.0]]), dtype=_dtype, seed=1),
        draw("u", [2, 2], minval=Value(_dtype, [1.0, 2.0]), maxval=Value(_dtype, 9.0), dtype=_dtype, seed=1),
    ]
    add(f"parameters {_dtype}", "eager", _parameters, double=_dtype == "float64")
    add(f"graph parameters {_dtype}", "graph", _parameters, double=_dtype == "float64", runs=2)

# --- the others -------------------------------------------------------------------------------------------------------

_RANKED = Value("int64", [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]])
for _size in (1, 2, 3, 10, 1000):
    _value = Value("int32", list(range(_size)))
    add(f"shuffle {_size}", "eager", [call("random_shuffle", value=_value, seed=s) for s in (1, 1, 2)])
add("shuffle rows", "eager", [call("random_shuffle", value=_RANKED, seed=4)] * 3)
add("shuffle strings", "eager", [call("random_shuffle", value=Value("string", ["a", "b", "c", "d"]), seed=4)] * 2)
add("shuffle nothing", "eager", [call("random_shuffle", value=Value("float32", 3.0), seed=4)])

_inf = float("inf")
_LOGITS = [[0.1, 2.0, -1.0, 0.5], [0.0, 0.0, 0.0, 0.0], [-_inf, 1.0, -_inf, 1.0], [300.0, 299.0, -300.0, 0.0]]
for _dtype in ("float16", "float32", "float64"):
    _calls = [
        call("multinomial", logits=Value(_dtype, _LOGITS), num_samples=n, seed=6, output_dtype=out)
        for n, out in ((5, "int64"), (1, "int32"), (0, "int64"), (50, "int32"), (5, "int64"))
    ]
    add(f"categories {_dtype}", "eager", _calls)
    add(f"graph categories {_dtype}", "graph", _calls, runs=2)

for _dtype in ("float16", "float32", "float64"):
    _calls = [
        call(
            "random_gamma",
            shape=[3],
            alpha=Value(_dtype, [0.1, 0.5, 0.9, 1.0, 1.5, 10.0, 1000.0]),
            dtype=_dtype,
            seed=8,
        ),
        call(
            "random_gamma", shape=[2, 2], alpha=Value(_dtype, 2.5), beta=Value(_dtype, [0.5, 4.0]), dtype=_dtype, seed=8
        ),
        call("random_gamma", shape=[], alpha=Value(_dtype, [[0.3], [3.0]]), dtype=_dtype, seed=8),
        call("random_gamma", shape=[40], alpha=Value(_dtype, 0.01), dtype=_dtype, seed=9),
        call("random_gamma", shape=[40], alpha=Value(_dtype, 1.0), dtype=_dtype, seed=9),
    ]
    add(f"gamma {_dtype}", "eager", _calls, double=_dtype == "float64")
add(
    "many gamma",
    "eager",
    [call("random_gamma", shape=[9001], alpha=Value("float32", [0.7, 4.0]), seed=1)],
)

_RATES = [0.0, 0.1, 1.0, 5.0, 9.99, 10.0, 12.5, 25.0, 1000.0]
for _dtype in ("float16", "float32", "float64", "int32", "int64"):
    _calls = [
        call("random_poisson", shape=[4], lam=Value("float64", [*_RATES, 10000.0]), dtype=_dtype, seed=8),
        call("random_poisson", shape=[4], lam=Value("float32", _RATES), dtype=_dtype, seed=8),
        call("random_poisson", shape=[], lam=Value("int32", [1, 20]), dtype=_dtype, seed=8),
        call("random_poisson", shape=[2, 3], lam=30.0, dtype=_dtype, seed=9),
        call("random_poisson", shape=[0], lam=30.0, dtype=_dtype, seed=8),
    ]
    add(f"poisson {_dtype}", "eager", _calls)
add("many poisson", "eager", [call("random_poisson", shape=[9001], lam=Value("float64", [0.7, 40.0]), seed=1)])

for _dtype in ("float16", "float32", "float64"):
    _bounds = (
        (0, 1, -2, 2),
        (0, 1, 0.5, 0.75),
        (0, 1, 3, 4),
        (5, 2, -_inf, 2),
        (1, 3, 2, _inf),
        (0, 1, 4, 100),
        (0, 1, -0.5, 0.25),
    )
    _calls = [
        call(
            "ParameterizedTruncatedNormal",
            shape=[30],
            means=Value(_dtype, m),
            stdevs=Value(_dtype, s),
            minvals=Value(_dtype, lo),
            maxvals=Value(_dtype, hi),
            seed=3,
            seed2=4,
        )
        for m, s, lo, hi in _bounds
    ]
    _calls.append(
        call(
            "ParameterizedTruncatedNormal",
            shape=[3, 20],
            means=Value(_dtype, [0.0, 1.0, -1.0]),
            stdevs=Value(_dtype, [1.0]),
            minvals=Value(_dtype, [-1.0, 2.0, -9.0]),
            maxvals=Value(_dtype, 4.0),
            seed=3,
            seed2=4,
        )
    )
    add(f"between bounds {_dtype}", "eager", _calls, double=_dtype == "float64")

add(
    "crops",
    "eager",
    [
        call("random_crop", value=Value("int32", [[1, 2, 3], [4, 5, 6], [7, 8, 9]]), size=size, seed=s)
        for size in ([2, 2], [1, 3], [3, 3])
        for s in (1, 2)
    ],
)

# --- ops with seeds of their own --------------------------------------------------------------------------------------

for _pair in ((1, 0), (0, 1), (2**62, -5), (-1, -1), (87654321, 2**31 - 1)):
    _calls = [
        call(name, shape=[6], dtype="float32", seed=_pair[0], seed2=_pair[1])
        for name in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
    ]
    add("attrs {} {}".format(*_pair), "eager", _calls * 2)
    add("graph attrs {} {}".format(*_pair), "graph", _calls, runs=3)

# --- without state ----------------------------------------------------------------------------------------------------

for _pair in ([1, 2], [0, 0], [-1, 5], [2**40, -(2**50)], [2**63 - 1, -(2**63)]):
    _seed = Value("int64", _pair)
    _name = "{} {}".format(*_pair)
    add(
        f"stateless {_name}",
        "eager",
        [
            call("stateless_random_normal", shape=[9], seed=_seed),
            call("stateless_random_uniform", shape=[2, 3], seed=_seed, minval=-1.0, maxval=1.0),
            call("stateless_truncated_normal", shape=[17], seed=_seed, mean=1.0, stddev=2.0),
            call("stateless_random_uniform", shape=[5], seed=_seed, minval=-9, maxval=9, dtype="int32"),
            call("stateless_random_uniform", shape=[5], seed=_seed, minval=0, maxval=2**60, dtype="int64"),
            call("stateless_multinomial", logits=Value("float32", _LOGITS), num_samples=7, seed=_seed),
        ],
    )
    add(
        f"stateless more {_name}",
        "eager",
        [
            call("stateless_random_uniform", shape=[5], seed=_seed, minval=None, maxval=None, dtype=dtype)
            for dtype in ("int32", "int64", "uint32", "uint64")
        ]
        + [
            call("stateless_random_gamma", shape=[3, 4], seed=_seed, alpha=Value("float32", [0.5, 1.0, 2.0, 50.0])),
            call("stateless_random_gamma", shape=[6], seed=_seed, alpha=0.3, beta=2.0),
            call("stateless_random_poisson", shape=[4, 3], seed=_seed, lam=Value("float32", [0.5, 9.0, 90.0])),
            call("stateless_random_poisson", shape=[4], seed=_seed, lam=Value("int32", 12), dtype="int64"),
            call("stateless_shuffle", value=Value("int32", list(range(20))), seed=_seed),
            call("split", seed=_seed, num=3),
            call("fold_in", seed=_seed, data=Value("int64", 77)),
            call("stateless_parameterized_truncated_normal", shape=[12], seed=_seed),
            call("stateless_random_normal", shape=[3], seed=_seed, alg="philox"),
            call("StatelessRandomGetKeyCounter", seed=_seed),
        ],
        judges=NEW,
    )

for _dtype in FLOATS:
    _calls = [
        call(name, shape=shape, seed=Value("int32", [3, 4]), dtype=_dtype)
        for name in ("stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal")
        for shape in ([], [0], [5], [3, 7], [70001])
    ]
    add(f"stateless {_dtype}", "eager", _calls, double=_dtype == "float64")

for _dtype in ("float32", "float64", "float16"):
    _calls = [
        call(
            "stateless_random_binomial",
            shape=[5, 4],
            seed=Value("int32", [8, 9]),
            counts=Value(_dtype, [10.0, 1000.0, 1.0, 50.0]),
            probs=Value(_dtype, probs),
            output_dtype=out,
        )
        for probs, out in (
            ([0.25, 0.75, 0.5, 0.03125], "int32"),
            ([0.0, 1.0, 0.96875, 0.5], "float32"),
            (0.375, "int64"),
        )
    ]
    add(f"binomial {_dtype}", "eager", _calls, judges=NEW)

add(
    "graph stateless",
    "graph",
    [
        call("stateless_random_normal", shape=[3], seed=[1, 2]),
        call("stateless_random_uniform", shape=[3], seed=[1, 2]),
        call("stateless_truncated_normal", shape=[3], seed=[1, 2]),
        call("stateless_random_uniform", shape=[3], seed=[1, 2], minval=0, maxval=10, dtype="int32"),
        call("stateless_multinomial", logits=Value("float32", [[1.0, 2.0]]), num_samples=3, seed=[1, 2]),
    ],
    runs=2,
)
add(
    "graph stateless more",
    "graph",
    [
        call("stateless_random_gamma", shape=[3], seed=[1, 2], alpha=1.5),
        call("stateless_random_poisson", shape=[3], seed=[1, 2], lam=Value("float32", 4.0)),
        call(
            "stateless_random_binomial",
            shape=[3],
            seed=[1, 2],
            counts=Value("float32", 9.0),
            probs=Value("float32", 0.5),
        ),
        call("stateless_random_uniform", shape=[3], seed=[1, 2], minval=None, maxval=None, dtype="int32"),
        call("split", seed=Value("int32", [1, 2])),
        call("fold_in", seed=[1, 2], data=Value("int32", 3)),
        call("stateless_shuffle", value=Value("int32", [1, 2, 3]), seed=[4, 5]),
    ],
    judges=NEW,
    runs=2,
)

# --- generators -------------------------------------------------------------------------------------------------------

for _seed in (1, 1234, 2**70 + 5, -1):
    add(
        f"generator {_seed}",
        "generator",
        [
            call("normal", shape=[3]),
            call("normal", shape=[2, 2], mean=1.0, stddev=2.0),
            call("uniform", shape=[5]),
            call("uniform", shape=[3], minval=0, maxval=100, dtype="int32"),
            call("uniform", shape=[3], minval=None, maxval=None, dtype="int64"),
            call("truncated_normal", shape=[9]),
            call("uniform_full_int", shape=[2]),
            call("binomial", shape=[2, 2], counts=Value("float32", [10.0, 100.0]), probs=Value("float32", [0.2, 0.7])),
            call("make_seeds", count=2),
            call("skip", delta=5),
            call("normal", shape=[]),
        ],
        seed=_seed,
        judges=NEW,
    )


# --- playing ----------------------------------------------------------------------------------------------------------


def arguments_of(arguments, constant):
    """Return a call's arguments with tensors made by `constant(data, dtype)`."""
    return {
        key: constant(value.data, value.dtype) if isinstance(value, Value) else value
        for key, value in arguments.items()
    }


def packed(array):
    """Return an array in the form it is recorded in."""
    if array.dtype == object:
        return {"dtype": "string", "shape": list(array.shape), "data": [x.decode() for x in array.reshape(-1)]}
    name, data = array.dtype.name, array.tobytes()
    form = {"dtype": name, "shape": list(array.shape)}
    if array.size <= LARGE:
        form["data"] = base64.b64encode(data).decode()
    else:
        form["first"] = base64.b64encode(data[: 8 * array.dtype.itemsize]).decode()
        form["sha256"] = hashlib.sha256(data).hexdigest()
    return form


# --- candidate samplers -----------------------------------------------------------------------------------------------

_TRUE = Value("int64", [[1, 2], [3, 7], [0, 0]])
_SAMPLERS = ("uniform", "log_uniform", "learned_unigram")
for _kind in _SAMPLERS:
    for _unique in (True, False):
        _draws = [
            call(
                f"nn.{_kind}_candidate_sampler",
                true_classes=_TRUE,
                num_true=2,
                num_sampled=6,
                unique=_unique,
                range_max=most,
                seed=3,
            )
            for most in (8, 20, 1000)
        ]
        add(f"{_kind} sampler, unique {_unique}", "graph", _draws, seed=5, runs=3)
_WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0, 1.5, 0.5]
for _unique in (True, False):
    _draws = [
        call(
            "nn.fixed_unigram_candidate_sampler",
            true_classes=_TRUE,
            num_true=2,
            num_sampled=5,
            unique=_unique,
            range_max=len(_WEIGHTS) + kept,
            unigrams=_WEIGHTS,
            num_reserved_ids=kept,
            distortion=power,
            seed=3,
        )
        for kept, power in ((1, 0.75), (2, 1.0))
    ]
    add(f"fixed unigram sampler, unique {_unique}", "graph", _draws, runs=2)
