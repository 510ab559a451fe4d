"""Names that stand in object-based checkpoints, and what children are asked for."""

from __future__ import annotations

import enum

OBJECT_GRAPH_PROTO_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"
PYTHON_STATE = "py_state"


class SaveType(str, enum.Enum):
    """What the children of an object are wanted for."""

    SAVEDMODEL = "savedmodel"
    CHECKPOINT = "checkpoint"
