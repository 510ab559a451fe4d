"""`tfe.Iterator`: how the first eager programs went over a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbflow.core import context
from ebbflow.data.iterator import OwnedIterator

if TYPE_CHECKING:
    from ebbflow.data.dataset import DatasetV2


class Iterator(OwnedIterator):
    """An iterator over a dataset where ops run at once."""

    def __init__(self, dataset: DatasetV2):
        if not context.executing_eagerly():
            raise RuntimeError(
                "tfe.Iterator is only supported when eager execution is enabled. Use dataset.make_one_shot_iterator() "
                "or dataset.make_initializable_iterator() instead."
            )
        super().__init__(dataset)
