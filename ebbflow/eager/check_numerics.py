"""`tf.debugging.enable_check_numerics`: an error from the op that first gives an infinity or a NaN.

A recorder looks at what every op of this thread gives. A node that is added to a graph meanwhile is marked, and the
executor looks at its results when it runs; such a graph is not compiled. Knows nothing of sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.recorder import Recorder
from ebbflow.core.tensor import EagerTensor


class _Checking(Recorder):
    sees_all = True

    def record(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        if op.facts.unchecked:
            return
        for i, tensor in enumerate(outputs):
            if tensor.__class__ is EagerTensor:
                found = complaint([tensor._array], f'eagerly-executing op "{op.name}"', inputs, (i, len(outputs)))
                if found is not None:
                    raise errors.InvalidArgumentError(None, None, f"{found} [Op:CheckNumericsV2] name: ")
            else:
                tensor._op._graph.checked_nodes.add(tensor._op)


_checking = _Checking()


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Have an op of this thread that gives an infinity or a NaN raise an error; errors show the user's own line."""
    if _checking not in context.thread.recorders:
        _checking._listen()


def disable_check_numerics() -> None:
    """Let ops give infinities and NaNs again."""
    if _checking in context.thread.recorders:
        _checking._leave()


def complaint(
    arrays: Sequence[Any], where: str, inputs: Sequence[Any], place: tuple[int, int] | None = None
) -> str | None:
    """Return what is wrong with the results of an op, or None where all of them are finite."""
    for i, array in enumerate(arrays):
        if not isinstance(array, np.ndarray | np.generic) or array.dtype.kind not in "fcV" or array.dtype.names:
            continue
        wide = array.astype(np.float32) if array.dtype.kind == "V" else array
        if not np.isfinite(wide).all():
            at, count = place or (i, len(arrays))
            shown = "\n".join(str(x) for x in inputs)
            return (
                f"\n\n!!! Detected Infinity or NaN in output {at} of {where} (# of outputs: {count}) !!!\n"
                f"  dtype: {array.dtype}\n  shape: {array.shape}\n{_counts(wide)}\n"  # type: ignore[arg-type]
                f"  Input tensor{'s' * (len(inputs) > 1)}: {shown}\n\n : Tensor had {_kinds(wide)} values"  # type: ignore[arg-type]
            )
    return None


def _found(array: np.ndarray) -> dict[str, int]:
    real = array.real
    return {
        "-Inf": int((real == -np.inf).sum()),
        "+Inf": int((real == np.inf).sum()),
        "NaN": int(np.isnan(array).sum()),
    }


def _counts(array: np.ndarray) -> str:
    return "".join(f"  # of {'+' * (kind == 'NaN')}{kind} elements: {n}\n" for kind, n in _found(array).items() if n)


def _kinds(array: np.ndarray) -> str:
    kinds = [kind for kind, n in _found(array).items() if n]
    return " and ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]])) if kinds else "infinite"
