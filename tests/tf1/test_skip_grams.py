"""Pairs of words that stand near each other: windows, chances, tables of frequencies."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import skip_grams

v1 = tf.compat.v1
WORDS = [b"the", b"quick", b"brown", b"fox", b"jumps"]


def pairs(session, found):
    return list(zip(*(value.tolist() for value in session.run(found)), strict=True))


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("skips, start, limit", [(0, 0, -1), (1, 0, -1), (2, 0, -1), (9, 0, -1), (1, 1, 3), (1, 2, 99)])
def test_every_word_meets_its_neighbours(own, skips, start, limit):
    part = WORDS[start:] if limit < 0 else WORDS[start : start + limit]
    wanted = [(a, b) for i, a in enumerate(part) for j, b in enumerate(part) if abs(i - j) <= skips and (own or i != j)]
    with tf.Graph().as_default(), v1.Session() as session:
        found = skip_grams.skip_gram_sample(tf.constant(WORDS), skips, skips, start, limit, own)
        assert pairs(session, found) == wanted


def test_how_far_is_drawn_for_each_word():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(42)
        found = pairs(session, skip_grams.skip_gram_sample(tf.range(6), 1, 2, seed=9))
    reach = [max(abs(a - b) for a, b in found if a == word) for word in range(6)]
    assert reach == [2, 2, 2, 1, 1, 2]  # as TensorFlow 1.15 draws them from these seeds


@pytest.mark.parametrize("least, most, start", [(-1, 2, 0), (1, -2, 0), (2, 1, 0), (1, 2, -1)])
def test_wrong_numbers_are_refused_in_the_run(least, most, start):
    with tf.Graph().as_default(), v1.Session() as session:
        found = skip_grams.skip_gram_sample(tf.constant(WORDS), least, most, start)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not be"):
            session.run(found)


def test_a_vocabulary_from_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("and,40\nlife,8\nthe,30\nto,20\nuniverse,2\n")
    words = [b"the", b"answer", b"to", b"life", b"and", b"universe"]
    with tf.Graph().as_default(), v1.Session() as session:
        found = skip_grams.skip_gram_sample_with_text_vocab(
            tf.constant(words), str(path), vocab_min_count=3, min_skips=1, max_skips=1
        )
        session.run(v1.tables_initializer())
        seen = pairs(session, found)
        assert seen[:3] == [(b"the", b"to"), (b"to", b"the"), (b"to", b"life")] and len(seen) == 6
        for places in ((-1, 0), (0, 0), (0, 2), (2, 0)):
            with pytest.raises(ValueError, match="column"):
                skip_grams.skip_gram_sample_with_text_vocab(
                    tf.constant(words), str(path), places[0], tf.string, places[1]
                )
        with pytest.raises(ValueError, match="less than the sum"):
            skip_grams.skip_gram_sample_with_text_vocab(tf.constant(words), str(path), corpus_size=99)


@pytest.mark.parametrize("given", [dict(vocab_min_count=1), dict(corpus_size=9), dict(vocab_subsampling=1e-5)])
def test_a_frequency_needs_a_table(given):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="vocab_freq_table is not provided"):
        skip_grams.skip_gram_sample(tf.constant(WORDS), **given)


def test_frequent_words_are_left_out_at_random():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        table = v1.lookup.StaticHashTable(
            v1.lookup.KeyValueTensorInitializer(tf.constant([b"often", b"rare"]), tf.constant([1000, 1], tf.int64)), -1
        )
        session.run(table.initializer)
        kept = skip_grams.kept_words(tf.constant([b"often"] * 500 + [b"rare"] * 5), table, None, 0.01, 1001, None)
        values = session.run(kept)
    assert (values == b"rare").sum() == 5 and 20 < np.sum(values == b"often") < 100
