"""Where Keras 2 leaves word of itself, and what TensorFlow asks it in turn: its session, its model under construction.

Knows only functions that were handed in. Who needs Keras's answer where there may be no Keras asks here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_answers: dict[str, Callable[..., Any]] = {}
_loss_scale_wrappers: dict[type, Callable[..., Any]] = {}
_loss_scale_classes: list[type] = []
_policy_is_mixed = False
_graph_rewrite = False


def _registrar(what: str) -> Callable[[Callable[..., Any]], None]:
    def register(func: Callable[..., Any]) -> None:
        _answers[what] = func

    register.__doc__ = f"Ask `func` where Keras's {what.replace('_', ' ')} is wanted."
    return register


register_call_context_function = _registrar("call_context")
register_clear_session_function = _registrar("clear_session")
register_get_session_function = _registrar("session")
register_load_model_function = _registrar("load_model")
register_session_provider = _registrar("session_provider")


def ask(what: str, *args: Any) -> Any:
    """Return Keras's answer, or None where there is no Keras to ask."""
    answer = _answers.get(what)
    return None if answer is None else answer(*args)


def track_variable(variable: Any) -> None:
    """Have Keras's session, where a program has Keras 2, initialise a layer's variable: `K.get_session()` does so."""
    backend = sys.modules.get("tf_keras.src.backend")
    if backend is not None:
        backend.track_variable(variable)


def register_loss_scale_wrapper(
    optimizer_cls: type, wrapper_fn: Callable[..., Any], wrapper_cls: type | None = None
) -> None:
    """Have optimizers of a class scale their loss by what `wrapper_fn(optimizer, loss_scale)` makes of them."""
    _loss_scale_wrappers[optimizer_cls] = wrapper_fn
    if wrapper_cls is not None:
        _loss_scale_classes.append(wrapper_cls)


def loss_scale_wrapper(optimizer: Any) -> Callable[..., Any] | None:
    """Return the function that was registered for optimizers of this class, if there is one."""
    return next((wrap for cls, wrap in _loss_scale_wrappers.items() if isinstance(optimizer, cls)), None)


def has_loss_scale(optimizer: Any) -> bool:
    """Return whether Keras's own optimizer scales its loss already."""
    return isinstance(optimizer, tuple(_loss_scale_classes))


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Return whether the program asked for graphs in lower precision, which Keras's own mixed policy excludes."""
    return _graph_rewrite


def set_graph_rewrite(enabled: bool) -> None:
    """Note that the program asks for graphs in lower precision, or no longer does."""
    global _graph_rewrite
    _graph_rewrite = enabled


def set_using_mixed_precision_policy(is_used: bool) -> None:
    """Note that Keras's policy is a mixed one."""
    global _policy_is_mixed
    _policy_is_mixed = is_used


def policy_is_mixed() -> bool:
    """Return whether Keras's policy is a mixed one."""
    return _policy_is_mixed
