"""Chains of tags, scored on whichever `tf` is given: TensorFlow 1.15 for the recorder, Ebbflow for the test."""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = (1, 2, 5)


def answers(tf: Any, crf: Any) -> dict[str, Any]:
    """Return likelihoods, gradients, decoded tags and scores for sequences of some lengths, static and fed."""
    random = np.random.RandomState(0)
    told = {}
    for steps in STEPS:
        x = random.randn(3, steps, 4).astype("f")
        tags = random.randint(0, 4, (3, steps)).astype("i")
        lengths = np.array([steps, max(1, steps - 2), 0], "i")
        transitions = random.randn(4, 4).astype("f")
        allowed = random.rand(3, steps, 4) > 0.3
        for fed in (False, True):
            with tf.Graph().as_default(), tf.Session() as session:
                inputs = tf.placeholder(tf.float32, [None, steps, 4]) if fed else tf.constant(x)
                rest = tf.constant(lengths), tf.constant(transitions)
                likelihood, _ = crf.crf_log_likelihood(inputs, tf.constant(tags), *rest)
                decoded, best = crf.crf_decode(inputs, rest[1], rest[0])
                several = crf.crf_multitag_sequence_score(inputs, tf.constant(allowed), *rest)
                wanted = [likelihood, tf.gradients(likelihood, inputs)[0], decoded, best, several]
                values = session.run(wanted, {inputs: x} if fed else None)
            told[f"{steps} steps{', fed' if fed else ''}"] = [np.nan_to_num(v).round(5).tolist() for v in values]
        tag_list, score = crf.viterbi_decode(x[0], transitions)
        told[f"{steps} steps in NumPy"] = [[int(tag) for tag in tag_list], round(float(score), 5)]
    return told
