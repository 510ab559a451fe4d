"""Batches of Examples read side by side: the same values as record by record, whatever the records look like."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.parsing import batches, values, wire
from ebbflow.ops.parsing.alike import alike

KEYS = {b"x", b"label", b"name"}


def example(x=(), label=(), name=(), order="xln"):
    parts = {
        "x": b"".join(entry(b"x", 0x12, packed(np.array(x, "<f4").tobytes()))),
        "l": b"".join(entry(b"label", 0x1A, packed(b"".join(map(number, label))))),
        "n": b"".join(entry(b"name", 0x0A, b"".join(b"\x0a" + number(len(t)) + t for t in name))),
    }
    body = b"".join(parts[letter] for letter in order)
    return b"\x0a" + number(len(body)) + body


def number(value):
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def packed(data):
    return b"\x0a" + number(len(data)) + data if data else b""


def entry(key, tag, values):
    feature = bytes([tag]) + number(len(values)) + values
    both = b"\x0a" + number(len(key)) + key + b"\x12" + number(len(feature)) + feature
    return b"\x0a", number(len(both)), both


random = np.random.RandomState(3)
SAME = [example(random.rand(4), [i % 128], [b"t" * (i % 9)]) for i in range(40)]
BATCHES = {
    "alike": SAME,
    "long": [example(random.rand(80), [1 << 40 | i], [b"p" * (300 + i)]) for i in range(20)],
    "lengths of one byte and of two": [example(random.rand(4), [i], [b"t" * (90 + i)]) for i in range(60)],
    "several texts": [example([1.0], [i], [b"a", b"bc" * i]) for i in range(1, 9)],
    "nothing": [example() for _ in range(9)],
    "sometimes nothing": [example([2.0] * (i % 3), [7] * (i % 2), [b"x"]) for i in range(12)],
    "another order": [example([1.0], [i], [b"x"], "xln" if i % 2 else "nlx") for i in range(8)],
    "features missing": [example([1.0], [i], [b"x"], "xln"[: 1 + i % 3]) for i in range(9)],
    "a value that looks like a frame": [example([1.0], [10], [SAME[0][: i % 20]]) for i in range(30)],
    "several integers": [example([1.0], [i, 1 << 62, 300, 0], [b"x"]) for i in range(9)],
    "one": SAME[:1],
    "none": [],
}


def lists(columns, batch):
    """The values of every feature in every record, or the kind of error."""
    found = {}
    for key in sorted(KEYS & columns.keys()):
        kinds = np.broadcast_to(columns[key].kinds, len(batch.starts))
        rows = []
        for row in np.flatnonzero(kinds):
            _, starts, ends, inner = columns[key]
            place = slice(row, row + 1)
            one = wire.Column(int(kinds[row]), starts[place], ends[place], inner)
            try:
                flat, counts = values.MANY[int(kinds[row])](batch, one)
                rows.append((int(row), flat.tolist(), counts.tolist()))
            except wire.MalformedError:
                rows.append((int(row), "malformed", 0))
        if rows:
            found[key] = rows
    return found


@pytest.mark.parametrize("name", BATCHES)
def test_side_by_side_is_one_by_one(name):
    batch = wire.joined(BATCHES[name])
    assert lists(batches.columns_of(batch, KEYS), batch) == lists(batches._one_by_one(batch, KEYS), batch)


@pytest.mark.parametrize("name", ["alike", "long", "several texts", "several integers"])
def test_records_that_are_alike_are_recognised(name):
    assert alike(wire.joined(BATCHES[name])).keys() == KEYS


def test_spoilt_records_are_read_as_one_by_one():
    """Any byte of any record may be anything: either the same values, or the same record is refused."""
    chance = np.random.RandomState(1)
    for _ in range(400):
        records = [bytearray(r) for r in SAME[: chance.randint(2, 9)]]
        victim = records[chance.randint(len(records))]
        victim[chance.randint(len(victim))] = chance.randint(256)
        if chance.rand() < 0.2:
            del victim[chance.randint(len(victim)) :]
        batch = wire.joined([bytes(r) for r in records])
        found = []
        for read in (batches.columns_of, batches._one_by_one):
            try:
                found.append(lists(read(batch, KEYS), batch))
            except wire.MalformedError as error:
                found.append(error.args[0])
        assert found[0] == found[1], records


def test_a_list_of_floats_that_is_cut_short_is_refused():
    cut = b"".join(entry(b"x", 0x12, packed(b"abc")))
    record = b"\x0a" + number(len(cut)) + cut
    asked = {"x": tf.io.FixedLenFeature([1], tf.float32)}
    for given, parse in ((record, tf.io.parse_single_example), ([record] * 3, tf.io.parse_example)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Key: x.*floats are cut short"):
            parse(given, asked)
