"""Kernels of other ops, for kernels that are made of them.

An op that stands for several (a convolution of what was padded, a product of what was quantised) calls the kernels of
those here, on arrays. Knows the registry; imported by the families of this room.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.registry import registry


def computed(name: str, *arrays: Any, **attrs: Any) -> Any:
    """Return what the op of that name gives for arrays; attrs that are not given have their defaults."""
    op = registry[name]
    defaults = {key: attr.default for key, attr in op.signature.attrs.items() if attr.has_default}
    given = {**defaults, **attrs}
    return op.kernel_fn(np, *arrays, **{key: given[key] for key in op.kernel_attrs})
