"""The beam search as machine code: the paths and scores of the search on arrays, ties and impossible classes too."""

from __future__ import annotations

import numpy as np
import pytest

from ebbflow.engines import large_calls  # noqa: F401  (who makes code offers it)
from ebbflow.engines.native import late_code
from ebbflow.ops.nn import ctc_arrays
from ebbflow.ops.nn.ctc_loops import Beam, beam


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize(
    ("steps", "classes", "width"), [(0, 3, 2), (1, 2, 1), (30, 8, 5), (60, 20, 8), (50, 4, 20), (40, 30, 100)]
)
def test_code_finds_what_arrays_find(steps, classes, width, merge):
    random = np.random.RandomState(steps)
    logits = (random.randn(steps, 2, classes) * 2).round(1)
    logits[3::7] = logits[2:-1:7][: len(logits[3::7])]
    logits[5::11, :, 0] = -np.inf
    rows = ctc_arrays.log_softmax(logits)[:, 1]
    beam.code()
    late_code.settle()
    room = Beam(steps, classes, width)
    for _ in range(2):  # the room is used again
        found = room.search(beam.code(), rows, classes - 1, 3, merge)
    assert found == ctc_arrays.beam_search(rows, width, classes - 1, 3, merge)
