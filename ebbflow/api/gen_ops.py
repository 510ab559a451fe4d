"""Ops as plain functions in small letters: `tensorflow.python.ops.gen_nn_ops.relu_grad`, `…training_ops.apply_adam`.

TensorFlow generated a module of these for each family of ops. Here one object stands at all those paths: whatever op
there is, it has. Arguments go by the op's own order, inputs first, then attrs, then `name`. A `_` in front, which the
generated modules put where Python or a function written by hand has the word, may stand before any name.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ebbflow.core.interception import offer
from ebbflow.core.registry import registry
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.ops.raw_ops import SPELLINGS, raw_ops

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")


def small(name: str) -> str:
    """Return the name of an op as its Python function has it.

    >>> small("ResourceApplyRMSProp"), small("Conv2DBackpropInput"), small("ApplyFtrlV2"), small("MatMul")
    ('resource_apply_rms_prop', 'conv2d_backprop_input', 'apply_ftrl_v2', 'mat_mul')
    """
    return _WORDS.sub("_", name).lower()


@functools.cache
def _by_small_name() -> dict[str, str]:
    return {small(name): name for name in registry.names()}


def _function(name: str) -> Callable[..., Any]:
    """Make the function of an op when it is first asked for."""
    known, word = _by_small_name(), name.removeprefix("_")
    if registry.find(word) is not None:  # the op itself, as `tf.raw_ops` has it
        return getattr(raw_ops, word)
    if word not in known:
        near = difflib.get_close_matches(word, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise AttributeError(f"there is no op whose function is called {name!r}{hint}")
    op, spelt = registry[known[word]], SPELLINGS.get(known[word], {})

    def call(*arguments: TensorLike, **named: object) -> Nested:
        attrs: dict[str, Any] = {spelt.get(key, key): value for key, value in named.items()}
        return op(*arguments, **attrs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = op.text
    offer("op", call)
    return vars(gen_ops).setdefault(name, call)


gen_ops = ModuleType("ebbflow.api.gen_ops", __doc__)
vars(gen_ops).update(__getattr__=_function, __dir__=lambda: sorted(_by_small_name()))


def __getattr__(name: str) -> Any:
    return getattr(gen_ops, name)
