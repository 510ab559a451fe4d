"""Running the same by machine code and by NumPy alone."""

import numpy as np

import ebbflow as tf

HOST = "host,onednn"


def only_numpy(monkeypatch):
    monkeypatch.setenv("EBBFLOW_ENGINES", HOST)


def close(found, wanted, rtol=2e-5):
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def both_ways(monkeypatch, made, run):
    """Return what `run()` gives by code and by NumPy alone; there is code for at least one region, and no refusal."""
    by_code = run()
    assert made and not [m.refusal for m in made if m.kernel is None]
    only_numpy(monkeypatch)
    count = len(made)
    by_numpy = run()
    assert len(made) == count
    return by_code, by_numpy
