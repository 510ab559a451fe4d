"""Where nodes were made, as TensorFlow writes it beside a graph: a GraphDebugInfo message.

Lines are numbered once, and each node has the number of its stack; Ebbflow's stacks have one frame, the user's. The key
of a node is `NODE@FUNCTION`, without a function `NODE@`. Knows nodes and the message; knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ebbflow import messages
from ebbflow.graph.symbolic import Operation


def debug_info(nodes: Iterable[tuple[str, str, Operation]]) -> Any:
    """Return a GraphDebugInfo of nodes, each with its function's name (or nothing) and its own there."""
    info = messages.GraphDebugInfo()
    files: dict[str, int] = {}
    numbers: dict[tuple[str, int, str], int] = {}
    for function, name, node in nodes:
        line = node.line
        if line is None:
            continue
        place = (line.file, line.number, line.function)
        if place not in numbers:
            numbers[place] = number = len(numbers)
            frame = info.frames_by_id[number]
            frame.file_index, frame.line = files.setdefault(line.file, len(files)), line.number
            frame.func = line.function
            info.traces_by_id[number].frame_id.append(number)
        info.name_to_trace_id[f"{name}@{function}"] = numbers[place]
    info.files.extend(files)
    return info
