"""Which merges of a graph make up one choice, and what choices can have from each other.

Merges that take the two ways of one predicate become one choice, unless one of them needs another: then there are two,
one after the other. What a branch of the first computes the second need not compute again: it is handed out. A node
that runs only under a condition, asked for where the condition may not hold, becomes a choice between it and nothing.
Works on `Item`s whose conditions are known (`low_level`); builds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ebbflow.core import errors
from ebbflow.functions.dataflow_v1.low_level import (
    Item,
    condition_of,
    decider,
    is_loop_switch,
    is_loop_variable,
    whole_past,
)
from ebbflow.graph.symbolic import Operation


class Choice:
    """Merges of the two ways of one predicate, which become one choice.

    What a branch computes may be of use to a later choice on the same predicate: then the node hands it out too.
    """

    def __init__(self, predicate: Any, condition: frozenset[Any], earlier: Sequence[Choice]):
        self.predicate, self.condition, self.earlier = predicate, condition, list(earlier)
        self.merges: list[Item] = []
        self.computes: dict[bool, set[Item]] = {}
        self.handed_out: dict[bool, dict[tuple[Item, int], Any]] = {True: {}, False: {}}
        self.borrows: dict[bool, dict[Item, Choice]] = {True: {}, False: {}}

    def targets(self, way: bool) -> list[tuple[Item, int]]:
        """Return what the merges take if the predicate comes out this way."""
        found = []
        for merge in self.merges:
            found += [t for t in merge.inputs if (self.predicate, way) in condition_of(t)][:1]
        return found

    def inputs_taken(self, way: bool) -> list[int]:
        """Return which of its inputs each merge takes if the predicate comes out this way."""
        return [
            next(i for i, t in enumerate(merge.inputs) if (self.predicate, way) in condition_of(t))
            for merge in self.merges
        ]


def choices(order: Sequence[Item]) -> dict[Item, Choice]:
    """Return for each merge of two ways the choice it is part of.

    Merges on one predicate are one choice, unless one of them needs another: then the second comes later.
    """
    place = {item: number for number, item in enumerate(order)}
    levels: dict[Any, list[Choice]] = {}
    found: dict[Item, Choice] = {}
    for item in order:
        if item.kind != "Merge" or is_loop_variable(item):
            continue
        predicate = _predicate(item)
        if predicate is None:
            continue
        groups = levels.setdefault((predicate, item.condition, item.frame), [])
        level = 0
        if groups:
            before = reached(item, {m for g in groups for m in g.merges}, place)
            level = 1 + max((i for i, g in enumerate(groups) if before.intersection(g.merges)), default=-1)
        if level == len(groups):
            groups.append(Choice(predicate, item.condition, groups))
        groups[level].merges.append(item)
        found[item] = groups[level]
    return found


def _predicate(merge: Item) -> Any:
    """Return the predicate that decides which input a merge takes, or None where one of them is there anyway."""
    for predicate, way in condition_of(merge.inputs[0]) - merge.condition:
        if all((predicate, True) in condition_of(t) or (predicate, False) in condition_of(t) for t in merge.inputs):
            ways = {(predicate, True) in condition_of(t) for t in merge.inputs}
            if ways == {True, False} and way in (True, False):
                return predicate
    return None


def chained(order: Sequence[Item]) -> list[Item]:
    """Return the items with merges of several predicates turned into chains: the first input if its predicate holds,
    else the second if its own does, and so on; that none is there is an error where the merge is needed.

        y = Merge a[p] b[q]   =>   rest = Merge b[not p, q] missing[not p, not q]; y = Merge a[p] rest[not p]
    """
    found: list[Item] = []
    for item in order:
        if item.kind == "Merge" and not is_loop_variable(item) and _has_several_predicates(item):
            found += _links(item)
        found.append(item)
    return found


def _has_several_predicates(merge: Item) -> bool:
    return _predicate(merge) is None and not any(condition_of(t) <= merge.condition for t in merge.inputs)


def _links(merge: Item) -> list[Item]:
    """Have a merge take its first input or the rest of a chain; return the chain's items, each after its inputs."""
    added: list[Item] = []
    known, steps = merge.condition, []
    for number, tensor in enumerate(merge.inputs):
        asked = condition_of(tensor) - known
        if len(asked) > 1:
            raise errors.UnimplementedError(
                None,
                None,
                f"input {number} of the node '{merge.name}' of type {merge.op} depends on {len(asked)} predicates that "
                "its other inputs do not; write the choice with tf.cond",
            )
        added.append(_link(merge, "Merge", number, inputs=[tensor], condition=known | asked))
        steps.append((known, added[-1]))
        if not asked:
            break  # there whenever those before it are not
        ((predicate, way),) = asked
        known = known | {(predicate, not way)}
    else:
        shape = merge.origin._outputs[0]._dims if isinstance(merge.origin, Operation) else None
        absent = {"dtype": merge.attrs["T"], "shape": shape}
        added.append(_link(merge, "missing", len(steps), attrs=absent, condition=known))
        steps.append((known, added[-1]))
    *steps, (_, rest) = steps
    for known, link in reversed(steps[1:]):
        rest = _link(merge, "Merge", link.number, inputs=[(link, 0), (rest, 0)], condition=known)
        added.append(rest)
    merge.inputs = [(steps[0][1], 0), (rest, 0)]
    return added


def _link(merge: Item, op: str, number: int | None, **parts: Any) -> Item:
    return Item(f"{merge.name}/input_{number}", op, frame=merge.frame, number=number, **parts)


def reached(item: Item, targets: set[Item], place: dict[Item, int]) -> set[Item]:
    """Return which of `targets` an item depends on."""
    first = min(place[t] for t in targets)
    found: set[Item] = set()
    seen = {item}
    stack = [item]
    while stack:
        here = stack.pop()
        if here in targets:
            found.add(here)
        for other in whole_past(here):
            if other not in seen and place[other] >= first:
                seen.add(other)
                stack.append(other)
    return found


# --- sharing ---------------------------------------------------------------------------------------------------------

_REPEATED = frozenset(["Switch", "Const", "Identity", "NoOp", "done", "missing"])
"""What costs nothing is computed again rather than handed from one choice to the next."""


def share(groups: Iterable[Choice]) -> None:
    """Find what each choice computes, and what it can have from an earlier one."""
    for group in groups:
        for way in (True, False):
            group.computes[way] = set()
            stack: list[tuple[Item, int | None]] = list(group.targets(way))
            seen = set(stack)
            while stack:
                item, index = stack.pop()
                condition = item.condition if index is None else condition_of((item, index))
                if (group.predicate, way) not in condition:
                    continue
                lender = next((g for g in group.earlier if item in g.computes[way]), None)
                near = condition - group.condition == {(group.predicate, way)}
                if lender is not None and near and item.kind not in _REPEATED:
                    group.borrows[way][item] = lender
                    if index is not None:
                        lender.handed_out[way][item, index] = None
                    continue
                group.computes[way].update(item.frame.exits if item.kind == "Exit" and item.frame else [item])
                for key in [*sources_of(item), *[(c, None) for c in item.controls]]:
                    if key not in seen:
                        seen.add(key)
                        stack.append(key)


def sources_of(item: Item) -> list[tuple[Item, int]]:
    """Return the tensors that an item comes from; a loop comes from all that enters it."""
    return item.inputs if item.kind != "Exit" else [t for e in item.frame.enters for t in e.inputs]  # type: ignore[union-attr]


def waits_of_switches(order: Sequence[Item]) -> dict[Any, list[Item]]:
    """Return, by predicate and frame, what switches and the nodes that repeat their predicate wait for."""
    found: dict[Any, list[Item]] = {}
    for item in order:
        if item.kind != "Switch" or is_loop_switch(item):
            continue
        waits, (source, _) = list(item.controls), item.inputs[1]
        while source.op == "Identity":
            waits += source.controls
            source = source.inputs[0][0]
        if waits:
            known = found.setdefault((decider(item.inputs[1]), item.frame), [])
            known += [w for w in waits if w not in known]
    return found


def or_nothing(item: Item, index: int | None, condition: frozenset[Any]) -> list[Item]:
    """Return items that end in a merge of an item's output with the lack of it, there whatever the condition."""
    added: list[Item] = []

    def new(what: str, op: str, **parts: Any) -> Item:
        added.append(Item(f"{item.name}/{what}", op, frame=item.frame, **parts))
        return added[-1]

    missing: dict[str, Any] = {}
    here: tuple[Item, int] = (item, index or 0)
    whole = item.condition if index is None else condition_of(here)
    if index is None:
        here = (new("done", "done", controls=[item], condition=whole), 0)
    elif isinstance(item.origin, Operation):
        tensor = item.origin._outputs[index]
        missing = {"dtype": tensor.dtype.base_dtype, "shape": tensor._dims}
    else:
        raise errors.InvalidArgumentError(
            None, None, f"'{item.name}' runs only under a condition: fetch what is merged from it"
        )
    for predicate, way in sorted(condition, key=lambda literal: -len(condition_of(literal[0]))):
        whole = whole - {(predicate, way)}
        other = new("missing", "missing", attrs=missing, condition=whole | {(predicate, not way)})
        here = (new("merged", "Merge", inputs=[here, (other, 0)], condition=whole), 0)
    return added
