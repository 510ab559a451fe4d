"""The objects that can be reached from a root, in the order a checkpoint numbers them."""

from __future__ import annotations

import collections
import weakref
from typing import TYPE_CHECKING, Any

from ebbflow.core.identity import ObjectIdentityDictionary
from ebbflow.trackable.base import TrackableReference
from ebbflow.trackable.constants import SaveType
from ebbflow.trackable.data_structures import convert_to_trackable

if TYPE_CHECKING:
    from ebbflow.trackable.base import Trackable


class TrackableView:
    """What a root trackable object holds.

    >>> from ebbflow.trackable.auto import AutoTrackable
    >>> root = AutoTrackable()
    >>> root.child = AutoTrackable()
    >>> TrackableView(root).descendants() == [root, root.child]
    True
    """

    def __init__(self, root: Any):
        self._root_ref = root if isinstance(root, weakref.ref) else weakref.ref(root)

    @classmethod
    def children(cls, obj: Trackable, save_type: SaveType = SaveType.CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        """Return the children of one object by name."""
        obj._maybe_initialize_trackable()
        found = obj._trackable_children(save_type, **kwargs)
        return {name: convert_to_trackable(ref, parent=obj) for name, ref in found.items()}

    @property
    def root(self) -> Any:
        return self._root_ref()

    def descendants(self) -> list[Any]:
        """Return the root and everything below it, nearest first."""
        return self._descendants_with_paths()[0]

    def _descendants_with_paths(self) -> tuple[list[Any], ObjectIdentityDictionary]:
        ordered, paths, waiting = [], ObjectIdentityDictionary(), collections.deque([self.root])
        paths[self.root] = ()
        while waiting:
            current = waiting.popleft()
            ordered.append(current)
            for name, child in self.children(current).items():
                if child not in paths:
                    paths[child] = (*paths[current], TrackableReference(name, child))
                    waiting.append(child)
        return ordered, paths
