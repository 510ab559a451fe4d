"""Which passes run: all, but for those that a program switched off.

A session is told by `ConfigProto.graph_options`, everything else by `tf.config.optimizer`. What TensorFlow calls its
optimisers is mapped onto the passes here. `native_code` and `clustering` are Ebbflow's own, for `tf.config.optimizer`;
a session leaves both out where its `global_jit_level` is off.
"""

from __future__ import annotations

import os
from typing import Any

from ebbflow.platform import config

PASSES_OF = {
    "constant_folding": ("fold",),
    "shape_optimization": ("fold",),
    "arithmetic_optimization": ("simplify", "columns", "broadcasts", "common", "siblings"),
    "remapping": ("fuse", "entropy"),
    "layout_optimizer": ("layout",),
    "loop_optimization": ("narrow", "draws", "reads", "invariants"),
    "auto_parallel": ("parallel",),
    "native_code": ("native", "winograd"),
    "clustering": ("cluster",),
}
FOR_THE_HOST = ("draws", "layout", "native", "siblings", "entropy", "fuse", "winograd", "parallel")
"""Passes that make what only the host's engines can run: not for what XLA is to take whole."""

ROUNDING = ("simplify", "columns", "broadcasts", "cluster", *FOR_THE_HOST)
"""Passes after which numbers may be rounded otherwise than by the ops' kernels one after the other."""

EXACT = "exact"
"""Instead of yes or no to XLA: bit for bit what the kernels give, whichever engines there are, compiled or not."""

NOT_FOR_XLA = ("cluster", *FOR_THE_HOST)
"""Passes that are of no use to what XLA compiles whole."""

ALL = "all"
_OFF = 2  # RewriterConfig.OFF
_L0 = -1  # OptimizerOptions.L0, and GlobalJitLevel.OFF


def checking() -> bool:
    """Return whether everything is compiled at its first run, and verified after each pass."""
    return os.environ.get("EBBFLOW_CHECK", "0") not in ("", "0")


def repeats(session: Any = None) -> bool:
    """Return whether a run may not differ from another, in this process or the next.

    Code rounds `exp` and its kin, and sums, in its own way; so no run may then be without it, and none by an engine
    that was chosen by the clock.
    """
    return config.wishes.deterministic or getattr(session, "exact", False)


def from_the_first_run(session: Any = None) -> bool:
    """Return whether code is made before the first run, and not beside the first ones."""
    return checking() or repeats(session)


def switched_off(proto: Any = None) -> frozenset[str]:
    """Return the names of passes not to run; `ALL` stands for not compiling at all."""
    wishes = config.get_optimizer_experimental_options()
    off = {name for option, names in PASSES_OF.items() if wishes.get(option) is False for name in names}
    if wishes.get("disable_model_pruning"):
        off.add("prune")
    if wishes.get("disable_meta_optimizer"):
        off.add(ALL)
    if proto is not None:
        off |= _told(proto.graph_options)
    return frozenset(off)


def _told(options: Any) -> set[str]:
    rewrites, plain = options.rewrite_options, options.optimizer_options
    off = {name for option, names in PASSES_OF.items() if getattr(rewrites, option, 0) == _OFF for name in names}
    if rewrites.disable_model_pruning:
        off.add("prune")
    if rewrites.disable_meta_optimizer or plain.opt_level == _L0:
        off.add(ALL)
    if plain.global_jit_level == _L0:
        off |= {"cluster", "native"}
    return off


def jit_level(proto: Any = None) -> int:
    """Return how eagerly XLA is to be used: above 0, wherever it can be."""
    told = 0 if proto is None else proto.graph_options.optimizer_options.global_jit_level
    return told or (1 if config.get_jit() else 0)


_RECOMPUTING = (3, 5)  # RewriterConfig.HEURISTICS and RECOMPUTATION_HEURISTICS


def memory_limit(proto: Any = None) -> tuple[int, str] | None:
    """Return how many bytes a Program's values may take before cheap ones are computed again, and the scope of the
    nodes for which they may be; None where nothing is asked for.

    `tf.config.optimizer.set_experimental_options({"memory_limit": bytes})` is Ebbflow's own; a session's
    `memory_optimization` asks, as in TensorFlow, for as little as can be had, for the sake of gradients.
    """
    if proto is not None:
        rewrites = proto.graph_options.rewrite_options
        if rewrites.memory_optimization in _RECOMPUTING:
            return 0, rewrites.memory_optimizer_target_node_name_scope or "gradients/"
    limit = config.get_optimizer_experimental_options().get("memory_limit")
    return None if limit is None else (int(limit), "")
