"""Conditional random fields: what TensorFlow 1.15 gives, and a sum over all sequences written out."""

from __future__ import annotations

import itertools
import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1
from ebbflow.tf1 import crf
from tests.golden.contrib import crf as cases

RECORDED = json.loads(pathlib.Path(cases.__file__).with_suffix(".json").read_text())


@pytest.fixture(scope="module")
def answers():
    return cases.answers(tf1, crf)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(answers, name):
    for ours, theirs in zip(answers[name], RECORDED[name], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-4)


def test_the_norm_is_the_sum_over_all_sequences():
    random = np.random.default_rng(3)
    x, transitions = random.normal(size=(4, 3)), random.normal(size=(3, 3))
    scores = {
        tags: sum(x[t, tag] for t, tag in enumerate(tags)) + sum(transitions[a, b] for a, b in itertools.pairwise(tags))
        for tags in itertools.product(range(3), repeat=4)
    }
    norm = crf.crf_log_norm(tf.constant(x[None]), tf.constant([4]), tf.constant(transitions))
    np.testing.assert_allclose(norm.numpy(), [np.log(np.exp(list(scores.values())).sum())])
    tags, best = crf.crf_decode(tf.constant(x[None]), tf.constant(transitions), tf.constant([4]))
    assert tuple(tags.numpy()[0]) == max(scores, key=scores.get)
    np.testing.assert_allclose(best.numpy(), [max(scores.values())])
