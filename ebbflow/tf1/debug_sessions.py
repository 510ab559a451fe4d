"""Names of tfdbg, TF 1's debugger, for programs that import it and use it only when asked to.

The filter for bad numbers works; sessions and hooks that would open the debugger say what to use in its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def has_inf_or_nan(datum: object, tensor: Any) -> bool:
    """Return whether a value that a run gave has an infinity or a NaN in it; `datum`, where it came from, is not asked.

    >>> has_inf_or_nan(None, np.array([1.0, np.inf])), has_inf_or_nan(None, np.array([1, 2]))
    (True, False)
    """
    if not isinstance(tensor, (np.ndarray, np.generic)) or tensor.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(tensor).all())


class _Debugger:
    """What opened the debugger."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"{type(self).__name__}: the debugger of TF 1 is not part of Ebbflow. tf.add_check_numerics_ops() (in TF 2 "
            "tf.debugging.enable_check_numerics()) names the first op that gives a NaN or an infinity, and "
            "session.run(tensor) gives any value."
        )


class LocalCLIDebugWrapperSession(_Debugger):
    """A session whose runs were looked at in a terminal."""


class TensorBoardDebugWrapperSession(_Debugger):
    """A session whose runs were looked at in TensorBoard."""


class DumpingDebugWrapperSession(_Debugger):
    """A session whose runs were written to files."""


class LocalCLIDebugHook(_Debugger):
    """The same as a hook of monitored sessions."""


class TensorBoardDebugHook(_Debugger):
    """The same as a hook of monitored sessions."""


class DumpingDebugHook(_Debugger):
    """The same as a hook of monitored sessions."""
