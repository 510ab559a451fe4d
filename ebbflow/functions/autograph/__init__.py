"""AutoGraph: Python's `if`, `while`, `for` and their kin, made part of graphs.

A function is parsed with Python's own `ast`, its statements are rewritten into calls of operators (`operators`), and
the operators decide, when it runs, by what they are given: on tensors of a graph being built they add nodes, on
anything else they do what Python does. `source` finds the text (`executed` that of `exec`); `names`, `liveness`,
`assigned` and `certain` look at it; `jumps`, `rewrite` and `expressions` change it; `convert` makes functions of the
result. `state`, `conditionals`, `loops` and `iteration` are the operators' workings, `public` is `tf.autograph`. Knows
graphs and control flow, nothing of `tf.function`, which calls `convert`.
"""

from ebbflow.functions.autograph import ag
from ebbflow.functions.autograph.convert import convert, provide_operators
from ebbflow.functions.autograph.source import note

provide_operators(ag)

__all__ = ["convert", "note"]
