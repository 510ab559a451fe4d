"""Which name was meant: the error for a name no table has, which finds the nearest one when somebody reads it.

Knows the views. Looking for the nearest name takes milliseconds, and `hasattr(tf, "x")` must not pay them, so the
words are made in `__str__`.
"""

from __future__ import annotations

import functools

from ebbflow.api import views


class MissingNameError(AttributeError):
    """A namespace has no such name. Shown, and pickled, as the plain `AttributeError` that programs know."""

    def __init__(self, root: str, key: str, path: str) -> None:
        # `name` alone: with `obj` set too, Python would print a guess of its own after ours.
        super().__init__(root, key, path, name=path.rpartition(".")[2])

    def __str__(self) -> str:
        root, key, path = self.args
        hint = advice(key, path)
        return f"module '{root}' has no attribute '{path}'" + (f"; {hint}" if hint else "")

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return AttributeError, (str(self),)


MissingNameError.__module__ = "builtins"
MissingNameError.__name__ = MissingNameError.__qualname__ = "AttributeError"


INSTEAD = {
    "lite": "save models with tf.saved_model.save or model.export(), which TensorFlow's own converter reads",
    "mlir": "print(function.get_concrete_function(...).graph.as_graph_def()) shows what a function computes",
    "experimental.tensorrt": "models run here without conversion; tf.function(jit_compile=True) compiles them",
}
"""What TensorFlow has and this does not, with what to use in its place."""


def advice(key: str, path: str) -> str:
    """Return where a missing name is to be found, or what name was probably meant.

    >>> advice("v2", "nn.rel")
    'did you mean tf.nn.relu?'
    """
    for absent, other in INSTEAD.items():
        if f"{path}.".startswith(f"{absent}."):
            return f"tf.{absent} is not part of Ebbflow: {other}"
    elsewhere = _other_doors(key, path)
    if elsewhere:
        return elsewhere
    near = nearest(key, path)
    return f"did you mean {' or '.join('tf.' + name for name in near)}?" if near else ""


def _other_doors(key: str, path: str) -> str:
    for other in ("v1", "v2", "compat.v1"):
        shown = views.view(other)
        if other != key and (path in shown.names or path in shown.spaces):
            return f"tf.{path} exists only at {shown.door}"
    return ""


@functools.lru_cache(maxsize=64)
def nearest(key: str, path: str) -> tuple[str, ...]:
    """Return the name of a view that `path` may stand for, if any: spelled alike here, or standing elsewhere."""
    import difflib  # a millisecond, for whoever reads such an error

    shown = views.view(key)
    space, _, leaf = path.rpartition(".")
    if space in shown.spaces:
        siblings = shown.spaces[space]
        close = difflib.get_close_matches(leaf, siblings, n=1, cutoff=0.8)
        if close:
            return (f"{space}.{close[0]}" if space else close[0],)
    leaves: dict[str, str] = {}
    for name in sorted(shown.names, key=lambda name: (name.startswith("python."), name.count("."), len(name))):
        leaves.setdefault(name.rpartition(".")[2], name)
    close = [leaf] if leaf in leaves else difflib.get_close_matches(leaf, leaves, n=1, cutoff=0.8)
    return tuple(leaves[word] for word in close)
