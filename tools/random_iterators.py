"""Random chains of datasets, whose iterators are saved somewhere in the middle and go on elsewhere.

    python tools/random_iterators.py --count 500 --first 0 --seconds 600

A chain is a source and some stages (in random order, side by side, nested, cached, kept in files, read from a service),
all of which follow from its number alone, so that one that differs can be run again with `--first NUMBER --count 1`.
An iterator takes some elements and is saved; what it gives from there on must be what two others give that go on from
the state: one over the same dataset and one over a dataset made anew, with another number of parallel calls. One of
them is saved again on the way. Where stages leave their order free, each element must come as often as without a
save. Errors are elements, too. Left out is what depends on time, here as in TensorFlow: epochs behind one that was cut
off while a stage had read ahead. `ebbflow` is imported where a chain is made.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

MOST = 160
"""Elements of a chain that are looked at."""

Dataset = Any


class Chain:
    """What is needed to make one chain again and again: its number, a folder, and how many calls run side by side."""

    def __init__(self, tf: Any, number: int, folder: pathlib.Path, calls: int | None, service: str | None = None):
        self.tf, self.folder, self.calls, self.service = tf, folder, calls, service
        self.chance = random.Random(number)
        self.free = self.chance.random() < 0.15  # only stages that change nothing but the order, which is left free
        self.names: list[str] = []
        self.files = 0
        self.dataset = self._made(number)

    def _made(self, number: int) -> Dataset:
        self.tf.random.set_seed(number if self.chance.random() < 0.8 else None)
        dataset = self._pick(SOURCES)(self)
        stages = FREE if self.free else STAGES
        for _ in range(self.chance.randint(1, 5)):
            dataset = self._pick(stages)(self, dataset)
        if self.chance.random() < 0.2:
            options = self.tf.data.Options()
            options.deterministic = not self.free
            dataset = dataset.with_options(options)
        return dataset if self.free else dataset.take(MOST)

    def _pick(self, table: dict[str, Callable[..., Dataset]]) -> Callable[..., Dataset]:
        name = self.chance.choice(sorted(table))
        self.names.append(name)
        return table[name]

    def seed(self) -> int | None:
        """Return a seed, or that there is none."""
        return self.chance.choice([None, self.chance.randrange(99)])

    def path(self) -> str:
        """Return the name of a file or folder of this chain."""
        self.files += 1
        return str(self.folder / f"{self.files}")

    def rows(self, dataset: Dataset) -> Dataset:
        """Give each element as three, from a dataset of its own that has a random order."""
        size, seed = self.chance.randint(1, 4), self.seed()
        return lambda x: self.tf.data.Dataset.range(x, x + 3).shuffle(size, seed=seed)


def _ragged(chain: Chain, dataset: Dataset) -> Dataset:
    tf = chain.tf
    lists = dataset.map(lambda x: tf.fill([x % 3 + 1], x))
    return lists.ragged_batch(3).map(lambda rows: rows.flat_values).unbatch()


def _padded(chain: Chain, dataset: Dataset) -> Dataset:
    tf = chain.tf
    return (
        dataset.map(lambda x: tf.fill([x % 3 + 1], x))
        .padded_batch(4)
        .map(lambda rows: tf.reshape(rows, [-1]))
        .unbatch()
    )


def _sparse(chain: Chain, dataset: Dataset) -> Dataset:
    batches = dataset.map(lambda x: chain.tf.fill([x % 3 + 1], x))
    batches = batches.apply(chain.tf.data.experimental.dense_to_ragged_batch(2))
    return batches.map(lambda rows: rows.to_sparse().values).unbatch()


def _noise(chain: Chain, dataset: Dataset) -> Dataset:
    tf, seed = chain.tf, chain.seed()
    return dataset.map(lambda x: x + tf.random.uniform([], maxval=5, dtype=tf.int64, seed=seed), chain.calls)


def _choice(chain: Chain, dataset: Dataset) -> Dataset:
    tf = chain.tf
    return dataset.map(
        lambda x: tf.cond(tf.random.uniform([]) > 0.5, lambda: x, lambda: x + tf.random.uniform([], 0, 9, tf.int64)),
        chain.calls,
    )


def _failing(chain: Chain, dataset: Dataset) -> Dataset:
    tf, rest = chain.tf, chain.chance.randrange(11)

    def check(x: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_none_equal(x % 11, tf.constant(rest, tf.int64))]):
            return tf.identity(x)

    return dataset.map(check, chain.calls)


def _late(chain: Chain, dataset: Dataset) -> Dataset:
    tf = chain.tf

    def late(x: Any) -> Any:
        given = tf.py_function(lambda n: time.sleep(0.002 * (int(n) % 4 == 0)) or n, [x], tf.int64)
        given.set_shape([])
        return given

    return (dataset if chain.free else dataset.take(40)).map(late, num_parallel_calls=chain.calls)


def _kept(chain: Chain, dataset: Dataset) -> Dataset:
    """Write the elements, and read them from there; a chain that is made again finds them."""
    path, kept = chain.path(), dataset.take(MOST).ignore_errors()
    if not pathlib.Path(path).exists():
        kept.save(path)
    return chain.tf.data.Dataset.load(path)


def _records(chain: Chain, dataset: Dataset) -> Dataset:
    tf = chain.tf
    paths = [chain.path() for _ in range(3)]
    kind = chain.chance.choice(["", "GZIP", "ZLIB"])
    if not pathlib.Path(paths[-1]).exists():
        values = [int(x) for x in dataset.take(30).ignore_errors()]
        for n, path in enumerate(paths):
            with tf.io.TFRecordWriter(path, kind) as writer:
                for x in values[n::3]:
                    writer.write(tf.io.serialize_tensor(tf.constant(x, tf.int64)).numpy())
    found = tf.data.TFRecordDataset(paths, kind, num_parallel_reads=chain.chance.choice([None, 3]))
    return found.map(lambda record: tf.ensure_shape(tf.io.parse_tensor(record, tf.int64), []), chain.calls)


def _listed(chain: Chain) -> Dataset:
    tf, paths = chain.tf, [chain.folder / f"listed{n}.txt" for n in range(9)]
    for n, path in enumerate(paths):
        path.write_text("".join(f"{10 * n + row}\n" for row in range(7)))
    names = tf.data.Dataset.list_files(str(chain.folder / "listed*.txt"), shuffle=True, seed=chain.seed())
    return names.interleave(
        lambda name: tf.data.TextLineDataset(name).map(lambda line: tf.strings.to_number(line, tf.int64)),
        cycle_length=3,
        block_length=2,
        num_parallel_calls=chain.calls,
    )


def _with_itself(chain: Chain, dataset: Dataset) -> Dataset:
    if {"cache", "cache file"} & set(chain.names):  # whoever fills it is not who reads it
        return dataset
    return chain.tf.data.Dataset.zip((dataset, dataset)).map(lambda x, y: x + 1000 * (y - x))


def _again(chain: Chain, dataset: Dataset, count: int | None) -> Dataset:
    if CUT & set(chain.names):  # what was read ahead of the cut has drawn numbers that the next epoch lacks
        return dataset
    return dataset.repeat(count)


def _generated(chain: Chain) -> Dataset:
    signature = chain.tf.TensorSpec([], chain.tf.int64)
    return chain.tf.data.Dataset.from_generator(lambda: iter(range(50)), output_signature=signature)


def _drawn(chain: Chain) -> Dataset:
    tf = chain.tf
    numbers = tf.data.Dataset.random(seed=chain.seed(), rerandomize_each_iteration=chain.chance.random() < 0.5)
    return numbers.take(60).map(lambda x: tf.cast(x, tf.int64) % 1000)


def _sampled(chain: Chain) -> Dataset:
    tf = chain.tf
    parts = [tf.data.Dataset.range(30).shuffle(4), tf.data.Dataset.range(100, 140), tf.data.Dataset.range(200, 209)]
    return tf.data.Dataset.sample_from_datasets(
        parts,
        chain.chance.choice([None, [0.5, 0.3, 0.2]]),
        chain.seed(),
        stop_on_empty_dataset=chain.chance.random() < 0.5,
        rerandomize_each_iteration=chain.chance.random() < 0.5,
    )


def _chosen(chain: Chain) -> Dataset:
    tf = chain.tf
    parts = [tf.data.Dataset.range(30).shuffle(9), tf.data.Dataset.range(100, 140)]
    return tf.data.Dataset.choose_from_datasets(parts, tf.data.Dataset.range(2).shuffle(2).repeat(30))


CUT = {"late", "take, skip", "while", "cache", "cache file", "saved", "records", "snapshot", "concatenated"}
"""Stages that end before what they read does: stages that run side by side have read ahead of them."""

SOURCES: dict[str, Callable[[Chain], Dataset]] = {
    "range": lambda c: c.tf.data.Dataset.range(83),
    "slices": lambda c: c.tf.data.Dataset.from_tensor_slices(list(range(7, 77))).map(lambda x: c.tf.cast(x, "int64")),
    "zip": lambda c: c.tf.data.Dataset.zip((c.tf.data.Dataset.range(50).shuffle(7), c.tf.data.Dataset.range(60))).map(
        lambda x, y: 7 * x + y, c.calls
    ),
    "files": _listed,
    "generator": _generated,
    "random": _drawn,
    "sampled": _sampled,
    "chosen": _chosen,
}

STAGES: dict[str, Callable[[Chain, Dataset], Dataset]] = {
    "map": lambda c, ds: ds.map(lambda x: 3 * x + 1, num_parallel_calls=c.calls),
    "late": _late,
    "noise": _noise,
    "random choice": _choice,
    "errors": _failing,
    "ignore errors": lambda c, ds: _failing(c, ds).ignore_errors(),
    "filter": lambda c, ds: ds.filter(lambda x: x % 5 > 0),
    "shuffle": lambda c, ds: ds.shuffle(
        c.chance.choice([2, 9, 200]), seed=c.seed(), reshuffle_each_iteration=c.chance.random() < 0.6
    ),
    "shuffle, repeat": lambda c, ds: _again(c, ds.shuffle(11, seed=c.seed()), c.chance.choice([2, 3, None])),
    "repeat": lambda c, ds: _again(c, ds, c.chance.choice([2, 3, None])),
    "cache": lambda c, ds: ds.take(30).ignore_errors().cache().repeat(c.chance.randint(1, 3)),
    "take, skip": lambda c, ds: ds.take(60).skip(c.chance.randrange(9)),
    "shard": lambda c, ds: ds.shard(3, c.chance.randrange(3)),
    "prefetch": lambda c, ds: ds.prefetch(c.chance.choice([1, 5, c.tf.data.AUTOTUNE])),
    "batch": lambda c, ds: ds.batch(c.chance.randint(1, 7), num_parallel_calls=c.calls).unbatch(),
    "map and batch": lambda c, ds: ds.apply(
        c.tf.data.experimental.map_and_batch(lambda x: x + 1, 3, num_parallel_calls=c.calls)
    ).unbatch(),
    "windows": lambda c, ds: ds.window(3, shift=2).flat_map(lambda w: w.batch(3)).unbatch(),
    "windows, shuffled": lambda c, ds: ds.window(4).flat_map(lambda w: w.shuffle(3)),
    "flat": lambda c, ds: ds.flat_map(c.rows(ds)),
    "interleave": lambda c, ds: ds.interleave(c.rows(ds), c.chance.randint(1, 4), c.chance.randint(1, 2), c.calls),
    "nested": lambda c, ds: ds.interleave(
        lambda x: c.tf.data.Dataset.range(x, x + 2).interleave(c.rows(ds), 2, num_parallel_calls=c.calls).repeat(2),
        cycle_length=2,
        num_parallel_calls=c.calls,
    ),
    "parallel interleave": lambda c, ds: ds.apply(
        c.tf.data.experimental.parallel_interleave(c.rows(ds), cycle_length=2, sloppy=False)
    ),
    "noise inside": lambda c, ds: ds.flat_map(lambda x: _noise(c, c.tf.data.Dataset.range(x, x + 2))),
    "groups": lambda c, ds: ds.group_by_window(lambda x: x % 3, lambda key, w: w.shuffle(4).batch(2), 4).unbatch(),
    "lengths": lambda c, ds: (
        ds.map(lambda x: c.tf.fill([x % 4 + 1], x))
        .bucket_by_sequence_length(lambda x: c.tf.shape(x)[0], [2, 4], [2, 2, 2])
        .map(lambda rows: c.tf.reshape(rows, [-1]))
        .unbatch()
    ),
    "rejected": lambda c, ds: ds.rejection_resample(
        lambda x: c.tf.cast(x % 2, c.tf.int32), [0.7, 0.3], [0.5, 0.5], seed=c.seed()
    ).map(lambda kind, x: x),
    "sums": lambda c, ds: ds.scan(c.tf.constant(0, c.tf.int64), lambda s, x: (s + x, s + x % 7)),
    "while": lambda c, ds: ds.take_while(lambda x: x < 5000),
    "unique": lambda c, ds: ds.unique(),
    "numbered": lambda c, ds: ds.enumerate().map(lambda n, x: n + x, c.calls),
    "concatenated": lambda c, ds: ds.take(20).concatenate(c.tf.data.Dataset.range(9).shuffle(3)),
    "with itself": _with_itself,
    "ragged": _ragged,
    "padded": _padded,
    "sparse": _sparse,
    "saved": _kept,
    "records": _records,
    "snapshot": lambda c, ds: ds.take(40).ignore_errors().snapshot(c.path()),
    "cache file": lambda c, ds: ds.take(40).ignore_errors().cache(c.path()),
    "rebatch": lambda c, ds: ds.batch(6).rebatch([2, 1]).unbatch(),
    "options": lambda c, ds: ds.with_options(c.tf.data.Options()),
}

FREE: dict[str, Callable[[Chain, Dataset], Dataset]] = {
    "free map": lambda c, ds: ds.map(lambda x: x + 1, num_parallel_calls=c.calls, deterministic=False),
    "free interleave": lambda c, ds: ds.interleave(
        lambda x: c.tf.data.Dataset.range(x, x + 3), 3, num_parallel_calls=c.calls, deterministic=False
    ),
    "sloppy": lambda c, ds: ds.apply(
        c.tf.data.experimental.parallel_interleave(lambda x: c.tf.data.Dataset.range(x, x + 3), 3, sloppy=True)
    ),
    "late": _late,
    "shuffle": STAGES["shuffle"],
    "batch": lambda c, ds: ds.batch(4, num_parallel_calls=c.calls, deterministic=False).unbatch(),
    "prefetch": STAGES["prefetch"],
    "repeat": lambda c, ds: ds.repeat(2),
    "flat": lambda c, ds: ds.flat_map(c.rows(ds)),
}


def elements(iterator: Any, tf: Any, most: int = 1 << 20) -> list[Any]:
    """Return what an iterator gives from here on; an error is its class."""
    found: list[Any] = []
    while len(found) < most:
        try:
            found.append(int(next(iterator)))
        except StopIteration:
            break
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


def state_of(iterator: Any, tf: Any) -> Any:
    """Return the state of an iterator, by way of the bytes that a file would have."""
    return tf.io.parse_tensor(tf.io.serialize_tensor(iterator._save()), tf.variant)


def differs(number: int) -> str:
    """Return how the iterators of a chain differ, or nothing."""
    import ebbflow as tf

    chance = random.Random(-number - 1)
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        chain = Chain(tf, number, folder, chance.choice([None, 2, 4]))
        title = f"{number}: {' > '.join(chain.names)}"
        if chance.random() < 0.5:
            elements(iter(chain.dataset), tf, chance.randrange(40))  # an epoch begun before: seeds were drawn
        iterator, taken = iter(chain.dataset), chance.choice([0, 1, 2, 7, 20, 50, MOST])
        begun = elements(iterator, tf, taken)
        state = state_of(iterator, tf)
        rest = elements(iterator, tf)
        calls = chance.choice([None, 1, 3, tf.data.AUTOTUNE])
        if "errors" in chain.names and (calls is None) != (chain.calls is None):
            calls = None if chain.calls is None else 3  # an error takes a turn only where datasets run side by side
        for what, other in (("the same dataset", chain), ("a dataset made anew", Chain(tf, number, folder, calls))):
            others = iter(other.dataset)
            elements(others, tf, chance.choice([0, 3]))
            others._restore(state)
            first = elements(others, tf, chance.choice([0, 1, 9]))
            saved = state_of(others, tf)
            del others  # what it has made ahead took seeds that nobody else gets
            again = iter(other.dataset)
            again._restore(saved)
            found = first + elements(again, tf)
            same = Counter(begun + rest) == Counter(begun + found) if chain.free else found == rest
            if not same:
                return f"{title}\n  {what}, behind {len(begun)}: {found}\n  instead of {rest}"
        return ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_many(first: int, count: int, seconds: float, told: Callable[[str], None] = print) -> tuple[int, list[str]]:
    """Run chains until there are so many or the time is over; return how many there were, and which differed."""
    wrong, begun = [], time.monotonic()
    for done, number in enumerate(range(first, first + count)):
        if time.monotonic() - begun > seconds:
            return done, wrong
        try:
            found = differs(number)
        except Exception as error:
            found = f"{number}: {type(error).__name__}: {error}"
        if found:
            wrong.append(found)
            told(found)
    return count, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0)
    options = parser.parse_args()
    done, wrong = run_many(options.first, options.count, options.seconds)
    print(f"{done} chains, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
