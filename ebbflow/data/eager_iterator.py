"""`tfe.Iterator`: how the first eager programs went over a dataset."""

from __future__ import annotations

from typing import Any

from ebbflow.core import context
from ebbflow.data.iterator import OwnedIterator


class Iterator(OwnedIterator):
    """An iterator over a dataset where ops run at once."""

    def __init__(self, dataset: Any):
        if not context.executing_eagerly():
            raise RuntimeError(
                "tfe.Iterator is only supported when eager execution is enabled. Use dataset.make_one_shot_iterator() "
                "or dataset.make_initializable_iterator() instead."
            )
        super().__init__(dataset)
