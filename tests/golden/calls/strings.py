"""Cases of `tf.strings` and of what TF 1 called `tf.string_…`."""

import numpy as np

WORDS = ["", "a", "abc", "hello", *("x" * n for n in (7, 8, 15, 16, 17, 32, 33, 64, 65, 127, 128, 129)), "wörld"]
MANY = [chr(97 + i % 26) * (i * 7 % 90) + str(i) for i in range(60)] * 9
ROWS = [["a", "b"], ["c", "d"]]
UTF8 = [
    b"a\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80",
    b"",
    b"\xff\xfeab",
    b"x\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"a\x01 ",
    b"\xc3",
]
PATTERNS = r"""[^\w\s] \$\{x\} a{,2} a{2} a{2,1} a** (?i)ABC x(?i)b (?P<n>b)c (?<n>b)c \Qa.b\E [[:punct:]] [[:^alpha:]]
    [\pL]+ \p{Greek} \PL []a] [a-] [^a] a|b| (a a) [a (?:ab)+ b*? \x61 \x{62} \141 \1 \Z [b-a] [\d-z] (?s)a.b a.b
    \bb \B. (?U)a+ [a[] [&&a] ['"] (?=a) b$ (?m)b$ ^a \d+ .* (?i:B)c \z a{1001}"""
TEXT = "abc a.b ${x} aabb\nABC αβγ ]-[ a\nb 42"


def cases(tf):
    yield from hashes(tf)
    yield from numbers(tf)
    yield from parts(tf)
    yield from patterns(tf)
    yield from splits(tf)
    yield from grams(tf)
    yield from codes(tf)
    yield from joins(tf)


def hashes(tf):
    s = tf.strings
    for name, texts in (("few", WORDS[:5]), ("words", WORDS), ("many", MANY)):
        yield f"to_hash_bucket_fast/{name}", lambda x=texts: s.to_hash_bucket_fast(x, 1000003)
        yield f"to_hash_bucket_strong/{name}", lambda x=texts: s.to_hash_bucket_strong(x, 1000003, [123, -456])
        yield f"to_hash_bucket/{name}", lambda x=texts: s.to_hash_bucket(x, 1000003)
    yield "to_hash_bucket_fast/large", lambda: s.to_hash_bucket_fast(WORDS, 2**62)
    yield "to_hash_bucket_strong/key", lambda: s.to_hash_bucket_strong(WORDS, 10, [1])
    yield "to_hash_bucket/v1", lambda: tf.compat.v1.string_to_hash_bucket(string_tensor=["a"], num_buckets=7)
    yield "fingerprint/texts", lambda: tf.fingerprint(WORDS)
    yield "fingerprint/numbers", lambda: tf.fingerprint(np.arange(24.0).reshape(4, 6))
    yield "fingerprint/rows", lambda: tf.fingerprint(ROWS)
    yield "fingerprint/scalar", lambda: tf.fingerprint("a")


def numbers(tf):
    s = tf.strings
    texts = ["1.5", " 2 ", "1e3", "inf", "abc", "12", "99999999999", "-5", "0x1A", "", "1_0", "+5", "1e400", "Infinity"]
    for text in texts:
        for dtype in (tf.float32, tf.float64, tf.int32, tf.int64):
            yield f"to_number/{text}/{dtype.name}", lambda t=text, d=dtype: s.to_number(t, d)
    yield "to_number/v1", lambda: tf.compat.v1.string_to_number(["3"], tf.int32)
    yield "to_number/ragged", lambda: s.to_number(tf.ragged.constant([["1"], ["2", "3"]]))
    for text in ("aGVsbG8", "aGVsbG8=", "a+/_", "a", "a$==", "aa=", "_-__", ""):
        yield f"decode_base64/{text}", lambda t=text: tf.io.decode_base64([t])
    yield "encode_base64", lambda: tf.io.encode_base64(WORDS[:6])
    yield "encode_base64/pad", lambda: tf.io.encode_base64(WORDS[:6], pad=True)


def parts(tf):
    s, v1 = tf.strings, tf.compat.v1
    for unit in ("BYTE", "UTF8_CHAR"):
        for pos, count in ((1, 2), (-3, 2), (6, 1), (9, 1), (-9, 1), (1, -1), (0, 99), (5, 1)):
            yield f"substr/{unit}/{pos}/{count}", lambda u=unit, p=pos, n=count: s.substr("wörld", p, n, u)
        yield f"length/{unit}", lambda u=unit: s.length([*WORDS, b"\x80\x80a"], u)
    yield "substr/spread", lambda: s.substr([["a1", "b2"], ["c3", "d4"]], [0, 1], [1, 1])
    yield "substr/spread text", lambda: s.substr("hello", [1, 2], [1, 1])
    yield "substr/shapes", lambda: s.substr("hello", [1, 2], [1, 1, 1])
    yield "substr/ragged", lambda: s.substr(tf.ragged.constant([["AB"], []]), 0, 1)
    yield "substr/v1", lambda: v1.substr(["hello"], 1, 2)
    for encoding in ("", "utf-8", "foo"):
        texts = ["HELLO ÄÖ", "straße", b"\xff\xfeAB"]
        yield f"lower/{encoding}", lambda e=encoding, t=texts: s.lower(t, e)
        yield f"upper/{encoding}", lambda e=encoding, t=texts: s.upper(t, e)
    yield "lower/ragged", lambda: s.lower(tf.ragged.constant([["AB"], []]))
    yield "strip", lambda: s.strip([" \t\n\v\f\r a b \0 ", ""])


def patterns(tf):
    s = tf.strings
    for pattern in PATTERNS.split():
        yield f"regex_replace/{pattern}", lambda p=pattern: s.regex_replace([TEXT], p, r"<\0>")
        yield f"regex_full_match/{pattern}", lambda p=pattern: s.regex_full_match(["abc", "a", "aab", ""], p)
    rewrites = (r"\2\1\0", "y$1", r"\\", r"\3", r"\q", "")
    for rewrite in rewrites:
        for everywhere in (True, False):
            yield (
                f"regex_replace/to {rewrite}/{everywhere}",
                lambda r=rewrite, e=everywhere: s.regex_replace(["abcabc"], "(a)(b)", r, e),
            )
    for text, pattern in (
        ("baac", "a*"),
        ("abc", ""),
        ("", "^"),
        (b"\xff\xfea", "."),
        ("wörld ß", r"\w"),
        ("٣1", r"\pN"),
    ):
        yield f"regex_replace/{text!r}/{pattern}", lambda t=text, p=pattern: s.regex_replace(t, p, "x")
    yield "regex_replace/tensor", lambda: s.regex_replace(["abc"], tf.constant("b"), "x")
    yield "regex_replace/vector", lambda: s.regex_replace(["abc"], tf.constant(["b"]), "x")
    yield "regex_full_match/tensor", lambda: s.regex_full_match(["a"], tf.constant("a"))


def splits(tf):
    s, v1 = tf.strings, tf.compat.v1
    for sep in (None, " ", ",", "ab"):
        for most in (-1, 0, 1, 2):
            for text in ("", "a b c", " a  b ", "a,b,,c", "xabyabz", "\t\n"):
                yield f"split/{sep}/{most}/{text!r}", lambda t=text, p=sep, m=most: s.split([t, "q"], p, m)
    yield "split/scalar", lambda: s.split("a b")
    yield "split/matrix", lambda: s.split([["a b", "c"], ["", "d e f"]])
    yield "split/ragged", lambda: s.split(tf.ragged.constant([["a b"], [], ["c", "d e"]]))
    yield "split/none", lambda: s.split(tf.constant([], tf.string))
    yield "split/v1", lambda: v1.strings.split(["a b", "c"])
    yield "split/v1/ragged", lambda: v1.strings.split(["a b", "c"], result_type="RaggedTensor")
    yield "split/v1/scalar", lambda: v1.strings.split("a b")
    yield "split/v1/matrix", lambda: v1.strings.split([["a b", "c"], ["", "d"]])
    yield "split/v1/source", lambda: v1.strings.split(source=["a,b"], sep=",")
    yield "split/v1/nothing", lambda: v1.strings.split()
    for sep in (" ", "", ",;", "a"):
        for skip in (True, False):
            yield (
                f"string_split/{sep}/{skip}",
                lambda p=sep, k=skip: v1.string_split(["a b c", "", "x,y;z", " ab"], p, k),
            )
    yield "string_split/ragged", lambda: v1.string_split(["a b"], delimiter=" ", result_type="RaggedTensor")
    yield "string_split/matrix", lambda: v1.string_split([["a"]])
    yield "bytes_split", lambda: s.bytes_split(["hello", "", "ö"])
    yield "bytes_split/scalar", lambda: s.bytes_split("abc")
    yield "bytes_split/matrix", lambda: s.bytes_split([["ab", "c"]])


def grams(tf):
    rows = [["a", "b", "c", "d"], [], ["e"], ["f", "g"]]
    for width in (1, 2, [1, 3], [5]):
        for pads in (None, "P", ("L", "R")):
            for padding in (None, 1, 2):
                for keep in (False, True):
                    yield (
                        f"ngrams/{width}/{pads}/{padding}/{keep}",
                        lambda w=width, v=pads, p=padding, k=keep: tf.strings.ngrams(
                            tf.ragged.constant(rows), w, "|", v, p, k
                        ),
                    )
    yield "ngrams/vector", lambda: tf.strings.ngrams(["a", "b", "c"], 2)
    yield "ngrams/matrix", lambda: tf.strings.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2)
    yield "ngrams/cube", lambda: tf.strings.ngrams([[["a", "b"], ["c", "d"]]], 2)
    yield "ngrams/scalar", lambda: tf.strings.ngrams("a", 2)
    yield "ngrams/zero", lambda: tf.strings.ngrams(["a"], 0)
    yield "ngrams/short", lambda: tf.strings.ngrams(["a", "b"], 3, preserve_short_sequences=True)


def codes(tf):
    s = tf.strings
    for name in ("unicode_decode", "unicode_split", "unicode_decode_with_offsets", "unicode_split_with_offsets"):
        f = getattr(s, name)
        for errors in ("replace", "ignore", "strict"):
            yield f"{name}/{errors}", lambda f=f, e=errors: f(UTF8, "UTF-8", e)
            yield f"{name}/scalar/{errors}", lambda f=f, e=errors: f(UTF8[0], "UTF-8", e)
        yield f"{name}/replacement", lambda f=f: f(UTF8, "UTF-8", replacement_char=32)
        yield f"{name}/matrix", lambda f=f: f([UTF8[:2], UTF8[2:4]], "UTF-8")
        yield f"{name}/ragged", lambda f=f: f(tf.ragged.constant([UTF8[:1], UTF8[1:3]]), "UTF-8")
        yield f"{name}/unknown", lambda f=f: f(["a"], "bogus")
    yield "unicode_decode/control", lambda: s.unicode_decode(UTF8, "UTF-8", replace_control_characters=True)
    texts = (("US-ASCII", b"abc"), ("ISO-8859-1", b"\xe9abc"), ("UTF-16-BE", "a😀x".encode("utf-16-be")))
    for encoding, text in (*texts, ("UTF-32-BE", "a😀".encode("utf-32-be"))):
        yield f"decode/{encoding}", lambda e=encoding, t=text: s.unicode_decode_with_offsets([t], e)
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        for errors in ("replace", "ignore", "strict"):
            rules = {"output_encoding": encoding, "errors": errors}
            yield f"encode/{encoding}/{errors}", lambda r=rules: s.unicode_encode([97, 233, 0x1F600], **r)
            yield (
                f"encode/odd/{encoding}/{errors}",
                lambda r=rules: s.unicode_encode([[97, 0xD800], [0x110000, -1]], **r),
            )
            yield f"transcode/{encoding}/{errors}", lambda r=rules: s.unicode_transcode(UTF8, "UTF-8", **r)
    yield "encode/ragged", lambda: s.unicode_encode(tf.ragged.constant([[97], [], [98, 99]]), "UTF-8")
    yield "encode/deep", lambda: s.unicode_encode(tf.ragged.constant([[[97], []], [[98, 99]]]), "UTF-8")
    yield "encode/cube", lambda: s.unicode_encode([[[97], [98]], [[99], [100]]], "UTF-8")
    yield "encode/scalar", lambda: s.unicode_encode(97, "UTF-8")
    yield "transcode/control", lambda: s.unicode_transcode(UTF8, "UTF-8", "UTF-8", replace_control_characters=True)
    yield "unicode_script", lambda: s.unicode_script([0x41, 0x3B1, 0x65E5, -1, 0x110000, 0x627, 0x10FFFF])


def joins(tf):
    s, v1 = tf.strings, tf.compat.v1
    for axis in (None, 0, 1, -1, [0, 1], [1, 0], [], [-1, -2], 2, [0, 0]):
        for keep in (True, False):
            yield f"reduce_join/{axis}/{keep}", lambda a=axis, k=keep: s.reduce_join(ROWS, a, k, "-")
    yield "reduce_join/scalar", lambda: s.reduce_join("x")
    yield "reduce_join/no rows", lambda: s.reduce_join(tf.zeros((0, 2), tf.string), 0)
    yield "reduce_join/no columns", lambda: s.reduce_join(tf.zeros((2, 0), tf.string), 1)
    yield "reduce_join/ragged", lambda: s.reduce_join(tf.ragged.constant([["a", "b"], [], ["c"]]), 1, separator="+")
    yield "reduce_join/ragged/keep", lambda: s.reduce_join(tf.ragged.constant([["a", "b"], ["c"]]), -1, True)
    yield "reduce_join/v1", lambda: v1.reduce_join(ROWS, reduction_indices=0, keep_dims=True)
    yield "segment_join", lambda: s.unsorted_segment_join(["a", "b", "c"], [0, 2, 0], 3, "-")
    yield "segment_join/rows", lambda: s.unsorted_segment_join(ROWS, [1, 1], 2)
    yield "segment_join/matrix", lambda: s.unsorted_segment_join(ROWS, [[0, 1], [1, 0]], 2)
    yield "segment_join/beyond", lambda: s.unsorted_segment_join(ROWS, [1, 5], 2)
    yield "segment_join/negative", lambda: s.unsorted_segment_join(ROWS, [-1, 0], 2)
