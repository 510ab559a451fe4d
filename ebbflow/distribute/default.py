"""The strategies of one replica: the default one, which changes nothing, and `OneDeviceStrategy`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import context, nest
from ebbflow.distribute import current
from ebbflow.distribute.current import Place, provide_default
from ebbflow.distribute.strategy import Extended, Strategy
from ebbflow.functions.autograph.status import converted_where_on
from ebbflow.graph.scopes import colocate_with


class _DefaultDistributionStrategy(Strategy):
    """What holds where no strategy was chosen: one replica that does what the program says."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Let the default strategy hold inside the block, in another one's scope too."""
        if current.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        with current.entered(Place(self)):
            yield self

    def _open(self) -> Any:
        return current.entered(Place(self))  # variables are the program's own

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call `fn`."""
        if not current.thread.places:  # a plain program: nothing to enter
            return converted_where_on(fn)(*args, **(kwargs or {}))
        return super().run(fn, args, kwargs, options)


class _DefaultExtended(Extended):
    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        return next_creator(**kwargs)

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Call `fn(var, …)`; in a graph of the program's own, what it makes is placed with the variable."""
        graph = context.current_graph()
        with contextlib.nullcontext() if graph is None or graph.building_function else colocate_with(var):
            result = fn(var, *args, **(kwargs or {}))
        return result if group else nest.map_structure(self._local_results, result)


class OneDeviceStrategy(Strategy):
    """One replica, whose variables and ops are on a device of the program's choice."""

    def __init__(self, device: str):
        super().__init__(Extended(self, device))


provide_default(_DefaultDistributionStrategy)
