"""Names of public functions and back: which one of its names TensorFlow calls a function by in configs of models.

Knows the tables, and which functions were fetched through a door; what Keras exports has its names on itself.
"""

from __future__ import annotations

import functools
from typing import Any

from ebbflow.api import public_functions, views
from ebbflow.platform import decorators

_CHOSEN = """
    cast einsum tensordot eye norm space_to_batch nn.softsign nn.softmax nn.log_softmax math.l2_normalize
    linspace tensor_scatter_nd_add math.approx_max_k math.approx_min_k math.bessel_i0 math.bessel_i0e math.bessel_i1
    math.bessel_i1e
"""

CHOSEN = frozenset(_CHOSEN.split())
"""Names that TensorFlow prefers where the rule (the longest path, `io` and `random` first) would take another."""


LATER = ("manip", "dtypes", "debugging")
"""Namespaces whose names are second ones: the first two are TensorFlow 1's."""


def _preference(name: str) -> tuple[bool, bool, bool, bool, int]:
    space = name.partition(".")[0]
    return name in CHOSEN, space not in LATER, "experimental" not in name, space in ("io", "random"), name.count(".")


@functools.cache
def _names_by_target(key: str) -> dict[str, str]:
    best: dict[str, str] = {}
    for name, target in views.tables_of("BOTH").items() | views.tables_of("V1" if key == "compat.v1" else "V2").items():
        if target not in best or (_preference(name), best[target]) > (_preference(best[target]), name):
            best[target] = name
    return best


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """Return the public name that a function is known by, or None.

    >>> import ebbflow as tf
    >>> get_canonical_name_for_symbol(tf.reduce_sum)
    'math.reduce_sum'
    """
    _, inner = decorators.unwrap(symbol)
    if api_name == "keras":
        return _exported(inner, add_prefix_to_v1_names)
    if names := decorators.get_v2_names(inner):
        return names[0]
    if names := decorators.get_v1_names(inner):
        return f"compat.v1.{names[0]}" if add_prefix_to_v1_names else names[0]
    target = public_functions.target_of(symbol) or public_functions.target_of(inner)
    if target is None:
        return None
    second = _names_by_target("v2").get(target)
    if second is not None:
        return second
    first = _names_by_target("compat.v1").get(target)
    return f"compat.v1.{first}" if first and add_prefix_to_v1_names else first


def _exported(symbol: Any, prefix: bool) -> str | None:
    names = vars(symbol).get(decorators.NAMES) if hasattr(symbol, "__dict__") else None
    if names:
        return names[0]
    names = vars(symbol).get(decorators.NAMES_V1) if hasattr(symbol, "__dict__") else None
    return (f"compat.v1.{names[0]}" if prefix else names[0]) if names else None


def get_symbol_from_name(name: str) -> Any:
    """Return what a public name means, of TensorFlow (`math.add`) or exported by Keras (`keras.layers.Dense`), or None.

    >>> get_symbol_from_name("math.add").__name__
    'add'
    """
    if name in decorators.exported:
        return decorators.exported[name]
    try:
        return public_functions.public_function(name)
    except KeyError:
        return decorators.exported_by_programs.get(name)
