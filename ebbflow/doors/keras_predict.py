"""Keras's `predict` on rows that are one batch: the step that it would run, without a dataset around it.

A call of `predict` builds a dataset of six stages, which for one small batch takes twenty times as long as the model.
Where nobody could tell the difference (rows in an array or a tensor that one batch holds, nothing to print, no
callbacks, no limits, the usual strategy) the model's own `predict_function` is called with that batch at once. All else
is done as Keras does it, which stays whole: `predict` is wrapped when Keras is imported, and only where it and what it
calls read as in the releases that were compared. Knows Keras's trainer, which it is handed.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors, memory
from ebbflow.core.tensor import EagerTensor, wrap
from ebbflow.distribute.current import get_strategy
from ebbflow.distribute.default import _DefaultDistributionStrategy

READ = frozenset(["2d2b75cd3e30e383"])
"""Digests of what `predict` does in the releases of Keras that were compared: 3.13, 3.14 and 3.15."""

BATCH = 32
"""Rows of a batch where nobody says."""

_KINDS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
PLAIN = {name: frozenset(map(np.dtype, (*_KINDS, name))) for name in ("float32", "float64")}
"""What Keras leaves as it is, by its `floatx`: other floats become that one."""


def shorten(trainer: ModuleType) -> None:
    """Have models predict one batch at once, if this is a Keras whose way we know."""
    cls = trainer.TensorFlowTrainer
    whole = cls.predict
    known: list[bool] = []

    def predict(
        self: Any, x: Any, batch_size: Any = None, verbose: Any = "auto", steps: Any = None, callbacks: Any = None
    ) -> Any:
        if verbose.__class__ is int and not verbose and steps is None and callbacks is None:
            batch = _batch(self, x, batch_size)
            if batch is not None and not known:
                known.append(_digest(trainer, whole) in READ)
            if batch is not None and known[0]:
                try:
                    return step(self, batch)
                except (StopIteration, errors.OutOfRangeError):  # which Keras takes for the end of the data
                    pass
        return whole(self, x, batch_size, verbose, steps, callbacks)

    def at_once(self: Any, batch: EagerTensor) -> Any:
        self.make_predict_function()
        if getattr(self, "stop_predicting", None) is not False:
            self.stop_predicting = False
        found = self.predict_function([batch])
        if found.__class__ is EagerTensor:
            return found.numpy()
        return trainer.tree.map_structure(trainer.convert_to_np_if_not_ragged, found)

    step: Callable[..., Any] = trainer.traceback_utils.filter_traceback(at_once)
    cls.predict = functools.wraps(whole)(predict)


def _batch(model: Any, x: Any, batch_size: Any) -> EagerTensor | None:
    """Return the only batch of rows, or None where Keras is to look at them."""
    array = x if x.__class__ is np.ndarray else x._array if x.__class__ is EagerTensor else None
    most = BATCH if batch_size is None else batch_size
    if array.__class__ is not np.ndarray or most.__class__ is not int or not array.ndim or not 0 < len(array) <= most:
        return None
    modules = sys.modules
    if array.dtype not in PLAIN.get(modules["keras.src.backend.config"].floatx(), ()):
        return None
    if model._distribute_strategy is not None or get_strategy().__class__ is not _DefaultDistributionStrategy:
        return None
    if modules["keras.src.backend.config"].max_steps_per_epoch() is not None:
        return None
    if modules["keras.src.distribution.distribution_lib"].distribution() is not None:
        return None
    if model.predict_function is None or context.graph_scopes or context.recorders:
        return None
    return wrap(memory.copied(array), dtypes.as_dtype(array.dtype))


def _digest(trainer: ModuleType, predict: Any) -> str:
    """Return what tells one way of predicting from another: the text of all that is left out, and of `predict`."""
    adapters = sys.modules["keras.src.trainers.data_adapters"]
    classes = (trainer.TFEpochIterator, trainer.EpochIterator, adapters.ArrayDataAdapter)
    methods = [f for cls in classes for f in vars(cls).values() if inspect.isfunction(f)]
    others = (adapters.array_slicing.convert_to_sliceable, trainer.potentially_ragged_concat)
    try:
        texts = [inspect.getsource(f) for f in (inspect.unwrap(predict), *methods, *others)]
    except (OSError, TypeError):  # a Keras without its text
        return ""
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]
