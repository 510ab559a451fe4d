"""`tf.contrib.checkpoint`: helpers of object checkpoints that only TensorFlow 1 had.

Arrays of NumPy that are saved and come back by themselves, children with numbered names, several children that are
saved and restored together, variables of a block as children, and a picture of a checkpoint. Knows trackable objects
and checkpoints; what these do is done there.
"""

from __future__ import annotations

import contextlib
import functools
import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.checkpoint.positions import object_metadata
from ebbflow.checkpoint.reader import CheckpointReader
from ebbflow.checkpoint.saveables import SaveableObject, SaveSpec
from ebbflow.core import context, errors
from ebbflow.core.typing import DTypeLike, PathLike
from ebbflow.graph.scopes import no_op
from ebbflow.state.variables import variable_creator_scope
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY
from ebbflow.trackable.data_structures import TrackableDataStructure
from ebbflow.trackable.python_state import PythonState

# --- arrays -----------------------------------------------------------------------------------------------------------


class _SavedArray(PythonState):
    """An array as a value of a checkpoint: the bytes of a .npy file."""

    def __init__(self, array: Any):
        self.array = array

    def serialize(self) -> Any:
        """Return the array as bytes."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: Any) -> None:
        """Take the array back from bytes."""
        try:
            self.array = np.load(io.BytesIO(string_value), allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise errors.DataLossError(None, None, f"a NumpyState in a checkpoint is no array: {error}") from None


class NumpyState(Trackable):
    """An object whose attributes are arrays of NumPy, saved with checkpoints; restoring one makes its attributes."""

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        found = super()._lookup_dependency(name, cached_dependencies)
        if found is None:
            found = self._unconditional_dependency_names.setdefault(name, _SavedArray(np.array([])))
        return found

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            found = self._unconditional_dependency_names.get(name)
            if found is not None:
                return found.array
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            known = self._unconditional_dependency_names.get(name)
            if known is not None:
                known.array = value
            else:
                self._track_trackable(_SavedArray(value), name, overwrite=True)
        elif name.startswith("_"):
            super().__setattr__(name, value)
        else:
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array: a NumpyState holds "
                "arrays only. Keep other objects beside it, e.g. as tf.train.Checkpoint(arrays=…, others=…)"
            )


# --- children ---------------------------------------------------------------------------------------------------------


class UniqueNameTracker(TrackableDataStructure):
    """Children under names that are made different: a second `x` is `x_1`."""

    def __init__(self) -> None:
        super().__init__()
        self._maybe_initialize_trackable()
        self._name_counts: dict[str, int] = {}

    @property
    def _values(self) -> list[Any]:
        return [reference.ref for reference in self._checkpoint_dependencies]

    def track(self, trackable: Trackable, base_name: str) -> Trackable:
        """Make an object a child, under `base_name` with a number behind it where that is taken; return it."""
        if not isinstance(trackable, Trackable):
            raise ValueError(f"Expected a trackable value, got {trackable!r}")
        count = self._name_counts.get(base_name, 0)
        while self._lookup_dependency(_numbered(base_name, count)) is not None:
            count += 1
        self._name_counts[base_name] = count + 1
        self._track_value(trackable, _numbered(base_name, count))
        return trackable


def _numbered(name: str, number: int) -> str:
    return f"{name}_{number}" if number else name


class _SplitSaveable(SaveableObject):
    def __init__(self, part: _SplitDependency, name: str):
        super().__init__(part.save, [SaveSpec(part.save, "", name, dtype=part.dtype, device=part.device)], name)
        self._part = part

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Give the tensor to the parts' owner, once all are there."""
        return self._part.restore(restored_tensors[0])


class _SplitDependency(Trackable):
    """One of several values that are computed together and restored together."""

    def __init__(
        self,
        buffers: tuple[dict[str, Any], dict[str, Any]],
        functions: tuple[Callable[..., Any], Callable[..., Any]],
        about: tuple[str, Any, str],
        count: int,
    ):
        self._saved, self._restored = buffers
        self._fill, self._consume = functions
        self.part_name, self.dtype, self.device = about
        self._count = count

    def save(self) -> Any:
        """Return this part's value; the first part that is asked for has all of them computed."""
        if self.part_name not in self._saved:
            if self._saved:
                raise AssertionError(f"Split dependency {self.part_name}: all parts must be saved together.")
            self._fill(self._saved)
        return self._saved.pop(self.part_name)

    def restore(self, tensor: Any) -> Any:
        """Take this part's value; with the last part all of them are put back."""
        if self.part_name in self._restored:
            raise AssertionError(f"Split dependency {self.part_name}: all parts must be restored together.")
        self._restored[self.part_name] = tensor
        if len(self._restored) < self._count:
            return None if context.executing_eagerly() else no_op()
        done = self._consume(dict(self._restored))
        self._restored.clear()
        return done

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: functools.partial(_SplitSaveable, self)}


def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[DTypeLike],
    fill_save_buffer_fn: Callable[..., Any],
    consume_restore_buffer_fn: Callable[..., Any],
    device: str,
) -> Mapping[str, Trackable]:
    """Return objects by name that look like variables to a checkpoint, and are saved and restored together.

    `fill_save_buffer_fn` puts a tensor for each name into a dict; `consume_restore_buffer_fn` is given them back.
    """
    buffers: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    functions = fill_save_buffer_fn, consume_restore_buffer_fn
    return {
        name: _SplitDependency(buffers, functions, (name, dtype, device), len(component_names))
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }


class _Capturing(threading.local):
    """The objects whose blocks are open in this thread, the innermost last, with the starts of their names."""

    def __init__(self) -> None:
        self.stack: list[tuple[Any, str]] = []


_capturing = _Capturing()


@contextlib.contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Have variables that are made in the block become children of `template`, by their names inside its scope.

    Those of a block inside this one are children of that one's object, which becomes a child itself.
    """
    start, depth = f"{template.variable_scope.name}/", len(_capturing.stack)

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        if len(_capturing.stack) > depth + 1:
            inner, its_start = _capturing.stack[depth + 1]
            template._track_trackable(inner, its_start.removeprefix(start)[:-1], overwrite=True)
        elif variable._shared_name.startswith(start):
            template._track_trackable(variable, variable._shared_name.removeprefix(start), overwrite=True)
        return variable

    _capturing.stack.append((template, start))
    try:
        with variable_creator_scope(create):
            yield
    finally:
        _capturing.stack.pop()


# --- a picture --------------------------------------------------------------------------------------------------------


def dot_graph_from_checkpoint(save_path: PathLike) -> str:
    """Return the objects of a checkpoint and how they hold each other, as a graph in DOT's language."""
    reader, objects = CheckpointReader(save_path), object_metadata(str(save_path))
    slots = {slot.slot_variable_node_id for node in objects.nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(objects.nodes):
        lines.append(f'N_{number} [shape=point label="" {_look(node, number in slots, reader)}]')
        lines += [f'N_{number} -> N_{c.node_id} [label="{_quoted(c.local_name)}"]' for c in node.children]
        for slot in node.slot_variables:
            target = slot.slot_variable_node_id
            lines.append(f'N_{number} -> N_{target} [label="{_quoted(slot.slot_name)}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{target} [style=dotted]")
    return "\n".join([*lines, "}", ""])


def _look(node: Any, is_slot: bool, reader: CheckpointReader) -> str:
    if len(node.attributes) == 1 and node.attributes[0].name == VARIABLE_VALUE_KEY:
        attribute = node.attributes[0]
        color, kind = ("orange", "Slot variable") if is_slot else ("blue", "Variable")
        shape = reader.get_variable_to_shape_map()[attribute.checkpoint_key]
        dtype = reader.get_variable_to_dtype_map()[attribute.checkpoint_key].name
        return f'color={color} width=.25 tooltip="{kind} {_quoted(attribute.full_name)} shape={shape} {dtype}"'
    return 'width=.25 color=red tooltip="Optimizer"' if node.slot_variables else "width=.25"


def _quoted(name: str) -> str:
    return name.replace('"', '\\"')
