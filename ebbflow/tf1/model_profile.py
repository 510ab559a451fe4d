"""`tf.profiler` of TensorFlow 1: what a model's nodes have (parameters), do (float operations) and took (a run's time).

`ProfileOptionBuilder` writes options as a dictionary; `profile` puts the nodes of a graph into a tree by name
(`scope`), by what they take (`graph`), or together by op (`op`) or line (`code`), and gives it as a message, on the
screen, or in a file. Times and memory come from the `RunMetadata` of a traced run.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import context
from ebbflow.core.typing import Message
from ebbflow.graph.collections import GraphKeys
from ebbflow.platform import files
from ebbflow.tf1 import float_operations

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


COLUMNS = {"params": "parameters", "float_ops": "float_ops", "micros": "exec_micros", "bytes": "requested_bytes"}
"""What can be selected, and the field of the messages that has it."""

LEAST = {"min_params": "params", "min_float_ops": "float_ops", "min_micros": "micros", "min_bytes": "bytes"}
ROOT = "_TFProfRoot"
TRAINABLE = "_trainable_variables"

Counts = dict[str, int]


def _options(
    select: Sequence[str], order_by: str, least: dict[str, int], types: Sequence[str] = (".*",)
) -> dict[str, Any]:
    return {
        "max_depth": 10000, "min_bytes": 0, "min_peak_bytes": 0, "min_residual_bytes": 0, "min_output_bytes": 0,
        "min_micros": 0, "min_accelerator_micros": 0, "min_cpu_micros": 0, "min_params": 0, "min_float_ops": 0,
        "min_occurrence": 0, "order_by": order_by, "account_type_regexes": list(types), "start_name_regexes": [".*"],
        "trim_name_regexes": [], "show_name_regexes": [".*"], "hide_name_regexes": [],
        "account_displayed_op_only": True, "select": list(select), "step": -1, "output": "stdout", **least,
    }  # fmt: skip


class ProfileOptionBuilder:
    """Builds the options of `profile`, from none or from those of a static method."""

    def __init__(self, options: dict[str, Any] | None = None):
        self._options = _options(["micros"], "name", {}) if options is None else copy.deepcopy(options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Return the options to count the parameters of trainable variables."""
        return _options(["params"], "name", {}, [TRAINABLE])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Return the options to count float operations."""
        return _options(["float_ops"], "float_ops", {"min_float_ops": 1})

    @staticmethod
    def time_and_memory(
        min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0, min_cpu_micros: int = 0,
        min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the options to show where a run's time and memory went."""
        least = {
            "min_micros": min_micros, "min_bytes": min_bytes, "min_accelerator_micros": min_accelerator_micros,
            "min_cpu_micros": min_cpu_micros, "min_peak_bytes": min_peak_bytes,
            "min_residual_bytes": min_residual_bytes, "min_output_bytes": min_output_bytes,
        }  # fmt: skip
        return _options(["micros", "bytes"], "micros", least)

    def build(self) -> dict[str, Any]:
        """Return the options."""
        return copy.deepcopy(self._options)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        return self._with(
            min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )  # fmt: skip

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        return self._with(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(
        self, start_name_regexes: Sequence[str] | None = None, show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None, trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:  # fmt: skip
        given = {
            "start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes,
        }  # fmt: skip
        return self._with(**{name: list(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        return self._with(account_displayed_op_only=is_true)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        return self._with(select=list(attributes))

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        return self._with(order_by=attribute)

    def with_empty_output(self) -> ProfileOptionBuilder:
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        raise ValueError(
            "tf.profiler writes no timelines here: use tf.python.client.timeline.Timeline(run_metadata.step_stats)"
        )

    def with_step(self, step: int) -> ProfileOptionBuilder:
        return self._with(step=step)


DEFAULT_PROFILE_OPTIONS = 0


# --- the tree ---------------------------------------------------------------------------------------------------------


@dataclass
class _Branch:
    """A node of the tree: what it has itself, and what is below it."""

    name: str
    own: Counts = field(default_factory=dict)
    counted: bool = False  # a node of the graph whose type is asked for
    shape: str = ""
    children: list[_Branch] = field(default_factory=list)

    def total(self) -> Counts:
        sums = [self.own, *(child.total() for child in self.children)]
        return {column: sum(s.get(column, 0) for s in sums) for column in COLUMNS}


def profile(
    graph: Graph | None = None,
    run_meta: Message | None = None,
    op_log: Message | None = None,
    cmd: str = "scope",
    options: Any = 0,
) -> Message:
    """Return what the nodes of a graph have, do and took, as a tree of messages; show it as the options say.

    `cmd` is `scope` or `graph` (gives a GraphNodeProto), `op` or `code` (a MultiGraphNodeProto).
    """
    if cmd not in ("scope", "graph", "op", "code"):
        raise ValueError(f"cmd must be 'scope', 'graph', 'op' or 'code', got {cmd!r}")
    graph = graph if graph is not None else context.default_graph()
    options = ProfileOptionBuilder().build() if options == DEFAULT_PROFILE_OPTIONS else options
    found = _measured(graph, run_meta, options)
    if cmd in ("op", "code"):
        chain = _grouped(found, options, (lambda node: node.type) if cmd == "op" else _line)
        report, result = _grouped_text(chain, options), _chained(chain)
    else:
        root = _by_name(found) if cmd == "scope" else _by_inputs(graph, found)
        root = _shown(root, options)
        report, result = "\n".join(_tree_text(root, options, 0)), _message(root)
    _put_out(report, options)
    return result


def _measured(graph: Any, run_meta: Any, options: dict[str, Any]) -> dict[Any, _Branch]:
    trainable = {v.op.name for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    took = _times(run_meta)
    found = {}
    for node in graph.get_operations():
        kinds = [node.type, node.device, *([TRAINABLE] if node.name in trainable else ())]
        asked = any(re.fullmatch(r, kind) for r in options["account_type_regexes"] for kind in kinds)
        dims = node._attrs.get("shape") if node._op.facts.variable else None
        size = 1 if dims is not None else 0
        for n in dims or ():
            size *= n or 0
        own = {"params": size, "float_ops": float_operations.count(node), **took.get(node.name, {})}
        shape = "x".join(map(str, dims)) if dims else ""
        found[node] = _Branch(node.name, own if asked else {}, asked, shape)
    return found


def _times(run_meta: Any) -> dict[str, Counts]:
    took: dict[str, Counts] = {}
    for device in run_meta.step_stats.dev_stats if run_meta is not None else ():
        for stats in device.node_stats:
            entry = took.setdefault(stats.node_name.partition(":")[0], {"micros": 0, "bytes": 0})
            entry["micros"] += max(stats.op_end_rel_micros - stats.op_start_rel_micros, stats.all_end_rel_micros)
            entry["bytes"] += sum(memory.total_bytes for memory in stats.memory)
    return took


def _by_name(found: dict[Any, _Branch]) -> _Branch:
    root = _Branch(ROOT)
    places = {"": root, **{branch.name: branch for branch in found.values()}}
    for name in sorted(places):
        while name:
            parent = name.rpartition("/")[0]
            fresh = parent not in places
            above = places.setdefault(parent, _Branch(parent))
            if not any(child is places[name] for child in above.children):
                above.children.append(places[name])
            if not fresh:
                break
            name = parent
    return root


def _by_inputs(graph: Any, found: dict[Any, _Branch]) -> _Branch:
    """Return the tree in which a node stands above what it takes, each in one place."""
    root, placed = _Branch(ROOT), set()
    waiting = [(node, root) for node in graph.get_operations() if not any(t.consumers() for t in node.outputs)]
    while waiting:
        node, above = waiting.pop()
        if node not in placed:
            placed.add(node)
            above.children.append(found[node])
            waiting += [(t.op, found[node]) for t in node.inputs]
    return root


def _shown(root: _Branch, options: dict[str, Any]) -> _Branch:
    """Return the tree without what the options hide: children of a hidden branch stand with its parent."""

    def fits(branch: _Branch) -> bool:
        if any(re.fullmatch(r, branch.name) for r in options["hide_name_regexes"]):
            return False
        if not any(re.fullmatch(r, branch.name) for r in options["show_name_regexes"]):
            return False
        return all(branch.own.get(column, 0) >= options.get(least, 0) for least, column in LEAST.items())

    def visible(branch: _Branch) -> Iterable[_Branch]:
        trimmed = any(re.fullmatch(r, branch.name) for r in options["trim_name_regexes"])
        below = [] if trimmed else [c for child in branch.children for c in visible(child)]
        if fits(branch) and (branch.counted or below):
            yield _Branch(branch.name, branch.own, branch.counted, branch.shape, _ordered(below, options["order_by"]))
        else:
            yield from below

    return _Branch(ROOT, children=_ordered([c for child in root.children for c in visible(child)], options["order_by"]))


def _ordered(branches: list[_Branch], by: str) -> list[_Branch]:
    if by not in COLUMNS:
        return sorted(branches, key=lambda branch: branch.name)
    return sorted(branches, key=lambda branch: -branch.total()[by])


def _message(branch: _Branch) -> Any:
    result = messages.GraphNodeProto(name=branch.name)
    for column, value in branch.own.items():
        setattr(result, COLUMNS[column], value)
    for column, value in branch.total().items():
        setattr(result, f"total_{COLUMNS[column]}", value)
    for child in branch.children:
        result.children.add().CopyFrom(_message(child))
    result.total_definition_count = 1 + sum(child.total_definition_count for child in result.children)
    return result


# --- together ---------------------------------------------------------------------------------------------------------


def _line(node: Any) -> str:
    line = node.line
    return "unknown" if line is None else f"{line.file}:{line.number}:{line.function}"


def _grouped(found: dict[Any, _Branch], options: dict[str, Any], key: Callable[[Any], str]) -> list[_Branch]:
    """Return the sums of nodes that have a key in common, the largest first."""
    groups: dict[str, _Branch] = {}
    for node, branch in found.items():
        if branch.counted:
            group = groups.setdefault(key(node), _Branch(key(node)))
            group.children.append(branch)
    for group in groups.values():
        group.own = group.total()
    asked = [
        group
        for group in groups.values()
        if all(group.own.get(column, 0) >= options.get(least, 0) for least, column in LEAST.items())
    ]
    by = options["order_by"]
    return sorted(asked, key=(lambda g: -g.own[by]) if by in COLUMNS else (lambda g: g.name))


def _chained(groups: list[_Branch]) -> Any:
    """Return the groups as a message in which each has the next as its one child, and the sums from it on."""
    result = messages.MultiGraphNodeProto(name=ROOT)
    at = result
    for number, group in enumerate(groups):
        at = at.children.add(name=group.name)
        for column, value in group.own.items():
            setattr(at, COLUMNS[column], value)
            setattr(at, f"total_{COLUMNS[column]}", sum(g.own[column] for g in groups[number:]))
        for child in group.children:
            at.graph_nodes.add().CopyFrom(_message(child))
    for name in COLUMNS.values():
        setattr(result, f"total_{name}", getattr(result.children[0], f"total_{name}") if groups else 0)
    return result


# --- as text ----------------------------------------------------------------------------------------------------------

UNITS = {"params": "params", "float_ops": "flops", "micros": "us", "bytes": "B"}


def _short(number: int) -> str:
    for size, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.2f}{letter}"
    return str(number)


def _tree_text(branch: _Branch, options: dict[str, Any], depth: int) -> list[str]:
    columns = [c for c in options["select"] if c in COLUMNS]
    totals = branch.total()
    cells = []
    for column in columns:
        own = _short(branch.own[column]) if branch.counted else "--"
        shape = f"{branch.shape}, " if column == "params" and branch.shape else ""
        cells.append(f"{shape}{own}/{_short(totals[column])} {UNITS[column]}")
    lines = [f"{'  ' * depth}{branch.name} ({', '.join(cells)})"]
    if depth < options["max_depth"]:
        lines += [line for child in branch.children for line in _tree_text(child, options, depth + 1)]
    return lines


def _grouped_text(groups: list[_Branch], options: dict[str, Any]) -> str:
    columns = [c for c in options["select"] if c in COLUMNS]
    all_of = {column: sum(group.own[column] for group in groups) for column in columns}
    lines, before = [], dict.fromkeys(columns, 0)
    for group in groups:
        cells = []
        for column in columns:
            whole = all_of[column] or 1
            rest = (whole - before[column]) / whole
            cells.append(f"{_short(group.own[column])} {column} ({rest:.2%}, {group.own[column] / whole:.2%})")
            before[column] += group.own[column]
        lines.append(f"{group.name:<25} {', '.join(cells)}")
    return "\n".join(lines)


def _put_out(report: str, options: dict[str, Any]) -> None:
    kind, _, path = options["output"].partition(":outfile=")
    if kind == "none":
        return
    head = f"node name | {' | '.join('# ' + c if c != 'params' else '# parameters' for c in options['select'])}"
    text = f"\n==================Model Analysis Report======================\n\nProfile:\n{head}\n{report}\n"
    text += "\n======================End of Report==========================\n"
    if kind == "file":
        files.atomic_write_string_to_file(path, text)
    else:
        sys.stdout.write(text)


class Profiler:
    """Gathers the steps of a program, and profiles the last of them or one by its number."""

    def __init__(self, graph: Graph | None = None, op_log: Message | None = None):
        self._graph = graph
        self._steps: dict[int, Any] = {}

    def add_step(self, step: int, run_meta: Message) -> None:
        """Take in the RunMetadata of a traced run."""
        self._steps[step] = run_meta

    def _profile(self, cmd: str, options: dict[str, Any]) -> Any:
        step = options.get("step", -1)
        chosen = max(self._steps, default=None) if step < 0 else step
        if step >= 0 and step not in self._steps:
            raise ValueError(f"no step {step} was added; there are {sorted(self._steps)}")
        run_meta = None if chosen is None else self._steps[chosen]
        return profile(self._graph, run_meta, cmd=cmd, options=options)

    def profile_python(self, options: dict[str, Any]) -> Message:
        """Return the sums by line of Python."""
        return self._profile("code", options)

    def profile_operations(self, options: dict[str, Any]) -> Message:
        """Return the sums by op."""
        return self._profile("op", options)

    def profile_name_scope(self, options: dict[str, Any]) -> Message:
        """Return the tree by names."""
        return self._profile("scope", options)

    def profile_graph(self, options: dict[str, Any]) -> Message:
        """Return the tree by what nodes take."""
        return self._profile("graph", options)


# --- the names before 1.4 ---------------------------------------------------------------------------------------------

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()


def print_model_analysis(
    graph: Graph,
    run_meta: Message | None = None,
    op_log: Message | None = None,
    tfprof_cmd: str = "scope",
    tfprof_options: object = 0,
) -> Message:
    """Return what `profile` gives: its first name."""
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
