"""Datasets that say which stages are around them, as `tensorflow.python.data.experimental.ops.testing` has them.

Whoever begins to go over a dataset has its stages look at it (`Pipe.check`). Stages are called as the iterators of
TensorFlow are, once it has optimized them as the options say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.options import Options
from ebbflow.data.pipe import TYPED, Pipe, dataset_op, pipe_of
from ebbflow.data.written_ops import passing_on
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import as_bytes

_EXPECTING = f"(input_dataset:variant, transformations:string) -> (handle:variant) | {TYPED}"
AssertNextDataset = dataset_op("AssertNextDataset" + _EXPECTING)
AssertPrevDataset = dataset_op("AssertPrevDataset" + _EXPECTING)


@AssertNextDataset.kernel
def _(xp: Any, input_dataset: Any, transformations: Any) -> Any:
    wanted = [as_bytes(name).decode() for name in transformations.reshape(-1)]
    stage = passing_on(input_dataset)

    def check(root: Pipe, own: Pipe) -> None:
        names = [*_next_names(_path(root, own) or [], root.options), "Root"]
        if len(wanted) > len(names):
            raise invalid(f"Asserted next {len(wanted)} transformations but encountered only {len(names)}.")
        for i, (name, found) in enumerate(zip(wanted, names, strict=False)):
            if not re.fullmatch(re.escape(name) + r"(V\d+)?", found):
                raise invalid(
                    f"Asserted transformation matching {name} at offset {i} but encountered {found} transformation "
                    "instead."
                )

    stage.item().check = check
    return stage


def _path(root: Pipe, stage: Pipe) -> list[Pipe] | None:
    """Return the stages from behind one to the root; None where it is not in what the root was made of."""
    if root is stage:
        return []
    for source in root.inputs:
        found = _path(source, stage)
        if found is not None:
            return [*found, root]
    return None


def _next_names(path: Sequence[Pipe], options: Options | None) -> list[str]:
    """Return how TensorFlow's iterators over stages are called."""
    wishes = (options or Options()).experimental_optimization
    usual = wishes.apply_default_optimizations is not False
    leave_out = usual if wishes.noop_elimination is None else wishes.noop_elimination
    join = usual if wishes.map_and_batch_fusion is None else wishes.map_and_batch_fusion
    last = max([i for i, stage in enumerate(path) if stage.name == "NonSerializableDataset"], default=-1)
    names: list[str] = []
    for i, stage in enumerate(path):
        if _fact(stage, "silent") or (leave_out and i > last and _does_nothing(stage)):
            continue
        name = _name(stage)
        if name == "Map" and wishes.map_parallelization:
            name = "ParallelMap"
        if join and i > last and names and names[-1] in ("Map", "ParallelMap") and name in ("Batch", "ParallelBatch"):
            names[-1] = "MapAndBatch"
        else:
            names.append(name)
    return names


def _fact(stage: Pipe, name: str) -> Any:
    """Return what the op that made a stage says of itself."""
    return getattr(stage.made_by and stage.made_by[0], name, None)


def _name(stage: Pipe) -> str:
    if _fact(stage, "keeps"):
        return "FileCacheImpl" if as_bytes(stage.given[0][1]) else "MemoryCacheImpl"  # type: ignore[index]
    name = re.sub(r"Dataset(V\d+)?$", "", stage.name)
    if _fact(stage, "idle") is None:
        return name
    return f"{'Finite' if stage.size >= 0 or _count(stage) >= 0 else 'Forever'}{name}"


def _does_nothing(stage: Pipe) -> bool:
    nothing = _fact(stage, "idle")
    return nothing is not None and _count(stage) == nothing


def _count(stage: Pipe) -> int:
    return int(stage.given[0][1])  # type: ignore[index]


# --- what came before -------------------------------------------------------------------------------------------------


@AssertPrevDataset.kernel
def _(xp: Any, input_dataset: Any, transformations: Any) -> Any:
    wanted = [_described(as_bytes(text).decode()) for text in transformations.reshape(-1)]
    stage = passing_on(input_dataset)

    def check(root: Pipe, own: Pipe) -> None:
        source = pipe_of(input_dataset)
        for i, asked in enumerate(wanted):
            if i:
                if not source.inputs:
                    raise invalid(f"Asserted previous {len(wanted)} transformations but encountered only {i}.")
                source = source.inputs[-1]
            said = _difference(source, asked)
            if said:
                raise invalid(f"Failure checking transformations at offset {i}: {said}")

    stage.item().check = check
    return stage


def _described(text: str) -> Any:
    kind: Any = messages.message("tensorflow.NameAttrList")
    try:
        return messages.parse_text(text, kind)
    except Exception as error:  # whatever the parser of texts says
        raise invalid(f"Couldn't parse transformation '{text}': {error}") from None


def _difference(stage: Pipe, asked: Any) -> str:
    """Return what is not as asked of a stage, "" if nothing."""
    if not re.fullmatch(re.escape(asked.name) + r"(V\d+)?", stage.name):
        return f"Asserted transformation matching '{asked.name}', but found '{stage.name}'."
    have = stage.made_by[2] if stage.made_by is not None else {}
    for name, value in asked.attr.items():
        said = f"Asserted attribute '{name}' having a value of '{str(value).strip()}', but found "
        if name not in have:
            return said + "no such attribute defined."
        wanted = getattr(value, value.WhichOneof("value"))
        found = as_bytes(have[name]) if isinstance(wanted, bytes) else have[name]
        if found != wanted:
            return said + f"value of '{found!r}'."
    return ""


# --- as transformations -----------------------------------------------------------------------------------------------


def assert_next(transformations: Sequence[str]) -> Callable[[DatasetV2], Any]:
    """Return a transformation that has iterators look whether stages of these names come next."""
    if transformations is None:
        raise ValueError("Invalid `transformations`. `transformations` should not be empty.")
    names = convert(transformations, dtypes.string, name="transformations")
    return lambda dataset: dataset._then(AssertNextDataset, names, kind="_AssertNextDataset")


def assert_prev(transformations: Sequence[tuple[str, Any]]) -> Callable[[DatasetV2], Any]:
    """Return a transformation that has iterators look whether stages with these ops and attrs came before."""
    if transformations is None:
        raise ValueError("`transformations` cannot be empty")
    texts = convert([_text(*one) for one in transformations], dtypes.string, name="transformations")
    return lambda dataset: dataset._then(AssertPrevDataset, texts, kind="_AssertPrevDataset")


def _text(name: str, attrs: Any = None) -> str:
    message: Any = messages.message("tensorflow.NameAttrList")(name=name)
    for key, value in (attrs if isinstance(attrs, dict) else {}).items():
        if not isinstance(value, (bool, int, str)):
            raise ValueError(f"attribute value type ({type(value)}) must be bool, int, or str")
        field = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "s"
        setattr(message.attr[key], field, value.encode() if isinstance(value, str) else value)
    return messages.to_text(message)
