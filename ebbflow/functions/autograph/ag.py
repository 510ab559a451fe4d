"""What converted functions call by the name `ag`."""

from ebbflow.functions.autograph.called import convert
from ebbflow.functions.autograph.conditionals import if_exp, if_stmt
from ebbflow.functions.autograph.logic import and_, assert_, not_, or_
from ebbflow.functions.autograph.loops import for_stmt, loop_options, while_stmt
from ebbflow.functions.autograph.python_functions import (
    all,
    any,
    bool,
    enumerate,
    filter,
    float,
    int,
    len,
    map,
    max,
    min,
    print,
    range,
    round,
    sorted,
    sum,
    zip,
)

__all__ = [
    "all",
    "and_",
    "any",
    "assert_",
    "bool",
    "convert",
    "enumerate",
    "filter",
    "float",
    "for_stmt",
    "if_exp",
    "if_stmt",
    "int",
    "len",
    "loop_options",
    "map",
    "max",
    "min",
    "not_",
    "or_",
    "print",
    "range",
    "round",
    "sorted",
    "sum",
    "while_stmt",
    "zip",
]
