"""Cases of `tf.io`'s parsers: examples, sequences, CSV, raw bytes, tensors as messages."""

import gzip
import zlib

import numpy as np

ROWS = [
    {"i": [1, 2], "f": [0.5, -1.5], "s": [b"ab", b""], "n": [7], "x": [0, 3], "v": [1.0, 2.0]},
    {"i": [300, -4], "f": [2.0, 3.0], "s": [b"cd", b"e"], "n": [2**40], "x": [1], "v": [5.0]},
    {"i": [5, 6], "f": [4.0, 5.0], "s": [b"f", b"gh"], "x": [], "v": []},
]
PARTS = [
    {
        "v": [1, 2, 3, 4, 5],
        "splits": [0, 2, 5],
        "lengths": [2, 3],
        "ids": [0, 0, 1, 1, 1],
        "starts": [0, 2],
        "limits": [2, 5],
    },
    {"v": [6, 7], "splits": [0, 0, 2], "lengths": [0, 2], "ids": [1, 1], "starts": [0, 0], "limits": [0, 2]},
    {"v": [], "splits": [0], "lengths": [], "ids": [], "starts": [], "limits": []},
]


def feature(tf, values):
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(tf, row):
    features = {key: feature(tf, values) for key, values in row.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def sequence(tf, context, lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={key: feature(tf, values) for key, values in context.items()}),
        feature_lists=tf.train.FeatureLists(
            feature_list={
                key: tf.train.FeatureList(feature=[feature(tf, step) for step in steps]) for key, steps in lists.items()
            }
        ),
    ).SerializeToString()


def cases(tf):
    yield from examples(tf)
    yield from many(tf)
    yield from ragged(tf)
    yield from sequences(tf)
    yield from refusals(tf)
    yield from bytes_and_lines(tf)


def examples(tf):
    io = tf.io
    rows = [example(tf, row) for row in ROWS]
    fixed = {
        "i": io.FixedLenFeature([2], tf.int64),
        "f": io.FixedLenFeature([1, 2], tf.float32),
        "s": io.FixedLenFeature([2], tf.string),
    }
    yield "fixed", lambda: io.parse_example(rows, fixed)
    yield "fixed/one", lambda: io.parse_single_example(rows[1], fixed)
    yield "fixed/none", lambda: io.parse_example(tf.zeros([0], tf.string), fixed)
    defaults = {"n": io.FixedLenFeature([], tf.int64, -1), "z": io.FixedLenFeature([2], tf.string, ["p", "q"])}
    yield "defaults", lambda: io.parse_example(rows, defaults)
    yield "defaults/one", lambda: io.parse_single_example(rows[2], defaults)
    loose = {"i": io.VarLenFeature(tf.int64), "n": io.VarLenFeature(tf.int64), "s": io.VarLenFeature(tf.string)}
    yield "loose", lambda: io.parse_example(rows, loose)
    yield "loose/one", lambda: io.parse_single_example(rows[0], loose)
    yield "loose/missing", lambda: io.parse_example(rows, {"zz": io.VarLenFeature(tf.float32)})
    padded = {
        "n": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "v": io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-3.0),
        "s": io.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
    }
    yield "padded", lambda: io.parse_example(rows[:2], padded)
    yield "padded/one", lambda: io.parse_single_example(rows[0], padded)
    yield "sparse", lambda: io.parse_example(rows[:2], {"t": io.SparseFeature("x", "v", tf.float32, 10)})
    yield (
        "sparse/two",
        lambda: io.parse_example(rows[:1], {"t": io.SparseFeature(["x", "i"], "v", tf.float32, [10, 5])}),
    )
    yield "v1", lambda: tf.compat.v1.parse_example(rows, loose)
    yield "v1/one", lambda: tf.compat.v1.parse_single_example(rows[0], fixed)


def many(tf):
    """Enough records to be read side by side: of one layout, of different lengths, and in another order."""
    io = tf.io
    alike = [example(tf, {"a": [float(i), 2.0], "b": [i % 100], "c": [b"%03d" % i]}) for i in range(12)]
    uneven = [example(tf, {"a": [1.0] * (1 + i % 3), "b": [3**i, -i], "c": [b"x" * (40 * i)]}) for i in range(12)]
    mixed = [example(tf, {k: v for k, v in ROWS[0].items() if k != list(ROWS[0])[i % 3]}) for i in range(6)]
    loose = {"a": io.VarLenFeature(tf.float32), "b": io.VarLenFeature(tf.int64), "c": io.VarLenFeature(tf.string)}
    for name, rows in (("alike", alike), ("uneven", uneven)):
        yield f"many/{name}", lambda rows=rows: io.parse_example(rows, loose)
    fixed = {
        "a": io.FixedLenFeature([2], tf.float32),
        "b": io.FixedLenFeature([], tf.int64),
        "c": io.FixedLenFeature([], tf.string),
    }
    yield "many/alike/fixed", lambda: io.parse_example(alike, fixed)
    yield (
        "many/mixed",
        lambda: io.parse_example(
            mixed, {k: io.VarLenFeature(t) for k, t in (("i", tf.int64), ("f", tf.float32), ("s", tf.string))}
        ),
    )
    unpacked = b"\n\x0e\n\x0c\n\x01b\x12\x07\x1a\x05\x08\x05\x08\xac\x02"
    yield "many/unpacked", lambda: io.parse_example([unpacked] * 6, {"b": io.VarLenFeature(tf.int64)})


def ragged(tf):
    io, kind = tf.io, tf.io.RaggedFeature
    rows = [example(tf, row) for row in PARTS]
    yield "ragged", lambda: io.parse_example(rows, {"v": kind(tf.int64)})
    yield "ragged/one", lambda: io.parse_single_example(rows[0], {"v": kind(tf.int64)})
    yield "ragged/int64", lambda: io.parse_example(rows, {"q": kind(tf.int64, "v", row_splits_dtype=tf.int64)})
    for name, key in (
        ("RowSplits", "splits"), ("RowLengths", "lengths"), ("ValueRowIds", "ids"), ("RowStarts", "starts"), ("RowLimits", "limits")
    ):  # fmt: skip
        part = {"r": kind(tf.int64, "v", [getattr(kind, name)(key)])}
        yield f"ragged/{name}", lambda part=part: io.parse_example(rows, part)
        yield f"ragged/{name}/one", lambda part=part: io.parse_single_example(rows[0], part)
    yield (
        "ragged/uniform",
        lambda: io.parse_example(
            [example(tf, {"v": [1, 2, 3, 4]}), example(tf, {"v": [5, 6]})],
            {"r": kind(tf.int64, "v", [kind.UniformRowLength(2)])},
        ),
    )


def sequences(tf):
    io = tf.io
    rows = [
        sequence(tf, {"c": [1], "d": [b"x"]}, {"t": [[1, 2], [3, 4]], "u": [[b"a"], [b"b", b"c"]]}),
        sequence(tf, {"c": [2]}, {"t": [[5, 6]], "u": []}),
    ]
    context = {"c": io.FixedLenFeature([], tf.int64), "d": io.VarLenFeature(tf.string)}
    lists = {"t": io.FixedLenSequenceFeature([2], tf.int64), "u": io.VarLenFeature(tf.string)}
    yield "sequence", lambda: io.parse_sequence_example(rows, context, lists)
    yield "sequence/one", lambda: io.parse_single_sequence_example(rows[0], context, lists)
    yield (
        "sequence/ragged",
        lambda: io.parse_sequence_example(rows, {"d": io.RaggedFeature(tf.string)}, {"u": io.RaggedFeature(tf.string)}),
    )
    lacking = {"w": io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
    yield "sequence/lacking", lambda: io.parse_sequence_example(rows, None, lacking)
    yield (
        "sequence/required",
        lambda: io.parse_single_sequence_example(rows[0], None, {"w": io.FixedLenSequenceFeature([], tf.float32)}),
    )
    yield "sequence/type", lambda: io.parse_single_sequence_example(rows[0], None, {"t": io.VarLenFeature(tf.float32)})
    yield "sequence/nothing", lambda: io.parse_sequence_example(rows)


def refusals(tf):
    io = tf.io
    rows = [example(tf, row) for row in ROWS]
    yield "bad/none", lambda: io.parse_example(rows, {})
    yield "bad/float", lambda: io.parse_example(rows, {"i": io.FixedLenFeature([2], tf.float32)})
    yield "bad/count", lambda: io.parse_example(rows, {"i": io.FixedLenFeature([3], tf.int64)})
    yield "bad/missing", lambda: io.parse_example(rows, {"n": io.FixedLenFeature([], tf.int64)})
    yield "bad/bytes", lambda: io.parse_example([b"xx"], {"n": io.FixedLenFeature([], tf.int64)})
    yield "bad/cut", lambda: io.parse_example([rows[0][:-3]], {"i": io.VarLenFeature(tf.int64)})
    yield "bad/unknown", lambda: io.parse_example(rows, {"i": io.FixedLenFeature([None], tf.int64)})
    yield "bad/sequence", lambda: io.parse_example(rows, {"i": io.FixedLenSequenceFeature([], tf.int64)})
    yield "bad/scalar", lambda: io.parse_single_example(rows, {"i": io.VarLenFeature(tf.int64)})
    yield "bad/kind", lambda: io.parse_example(rows, {"i": 5})


def bytes_and_lines(tf):
    io = tf.io
    for kind in ("uint8", "int16", "int32", "float32", "float64", "int64", "float16", "bool", "complex64"):
        for little in (True, False):
            yield (
                f"decode_raw/{kind}/{little}",
                lambda k=kind, e=little: io.decode_raw([b"abcdefgh", b"\0\1\2\3\4\5\6\7"], k, e),
            )
    yield "decode_raw/empty", lambda: io.decode_raw(tf.zeros([0], tf.string), tf.int16)
    yield "decode_raw/uneven", lambda: io.decode_raw([b"abcd", b"ef"], tf.int16)
    yield "decode_raw/odd", lambda: io.decode_raw([b"abc"], tf.int16)
    yield "decode_raw/padded", lambda: io.decode_raw([b"abcd", b"ef", b"0123456789"], tf.int16, fixed_length=6)
    yield "decode_raw/padded/odd", lambda: io.decode_raw([b"abcd"], tf.int16, fixed_length=3)
    lines = (
        ("plain", ["1,2,a", "3,,b"], [[0], [5], ["x"]]), ("quoted", ['1,"2,""q"'], [[0], [""]]), ("more", ["1,2"], [[0]]),
        ("letters", ["x"], [[0]]), ("quote inside", ['a"b,1'], [[""], [0]]), ("quote ends", ['"a"b,1'], [[""], [0]]),
        ("quote open", ['"a,1'], [[""], [0]]), ("line end", ["1\n"], [[0]]), ("blank", [" 1, 2"], [[0], [""]]),
        ("nothing", [""], [[0]]), ("last empty", ["1,"], [[0], [""]]), ("scalar", "1.5,2", [[0.0], [0]]),
        ("matrix", [["1", "2"], ["3", "4"]], [[0]]), ("required", [",1"], [tf.constant([], tf.int32), [0]]),
    )  # fmt: skip
    for name, records, defaults in lines:
        yield f"decode_csv/{name}", lambda r=records, d=defaults: io.decode_csv(r, d)
    yield "decode_csv/missing", lambda: io.decode_csv(["1,NA"], [[0], [7.0]], na_value="NA")
    yield "decode_csv/columns", lambda: io.decode_csv(["1,2,3"], [[0]], select_cols=[1])
    yield "decode_csv/tabs", lambda: io.decode_csv(['a"b"\tc'], [[""], [""]], field_delim="\t", use_quote_delim=False)
    for kind in ("int32", "float32", "string", "bool", "float16", "complex64"):
        values = np.array([["1", "2"]]) if kind == "string" else np.array([[1, 0]])
        yield f"serialize/{kind}", lambda v=values, k=kind: io.serialize_tensor(tf.cast(v, k) if k != "string" else v)
        yield (
            f"parse/{kind}",
            lambda v=values, k=kind: io.parse_tensor(io.serialize_tensor(tf.cast(v, k) if k != "string" else v), k),
        )
    yield "parse/type", lambda: io.parse_tensor(io.serialize_tensor([1, 2]), tf.float32)
    yield "parse/bytes", lambda: io.parse_tensor(b"xx", tf.float32)
    yield "parse/vector", lambda: io.parse_tensor([b"xx"], tf.float32)
    yield "inflate/zlib", lambda: io.decode_compressed([zlib.compress(b"hello")], "ZLIB")
    yield "inflate/gzip", lambda: io.decode_compressed([gzip.compress(b"hello")], "GZIP")
    yield "inflate/none", lambda: io.decode_compressed([b"hello"])
    yield "inflate/bytes", lambda: io.decode_compressed([b"hello"], "ZLIB")
    yield "inflate/kind", lambda: io.decode_compressed([b"hello"], "X")
    text = '{"features":{"feature":{"a":{"int64List":{"value":["1"]}}}}}'
    yield "json", lambda: io.parse_single_example(io.decode_json_example(text), {"a": io.FixedLenFeature([], tf.int64)})
    yield "json/open", lambda: io.decode_json_example("{")
    yield "read_file/missing", lambda: io.read_file("/no/such/file")
    yield "read_file/vector", lambda: io.read_file(["/no/such/file"])
