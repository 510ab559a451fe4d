"""Iterators of TF 1 graphs: started once, by an operation, or for whichever dataset an operation names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.op import Op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, InitializerLike, Nested, TensorLike
from ebbflow.data import iterator_ops, structure
from ebbflow.data.iterator import IteratorBase, OwnedIterator
from ebbflow.functions.control_flow.loop_edits import copy_node
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.runtime.executor import needed_nodes

if TYPE_CHECKING:
    from ebbflow.data.dataset import DatasetV2


GLOBAL_ITERATORS = "iterators"
"""The collection of a graph's iterators."""


class Iterator(IteratorBase):
    """An iterator of a graph."""

    def __init__(
        self,
        iterator_resource: TensorLike,
        initializer: InitializerLike,
        output_types: Nested,
        output_shapes: Nested,
        output_classes: Nested,
    ):
        self._resource, self._initializer = iterator_resource, initializer
        self._spec = structure.from_legacy(output_types, output_shapes, output_classes)
        self._name = iterator_ops.IteratorToStringHandle(iterator_resource)

    @classmethod
    def _of(cls, resource: Any, initializer: Any, spec: Any) -> Iterator:
        made = cls.__new__(cls)
        made._resource, made._initializer, made._spec = resource, initializer, spec
        made._name = iterator_ops.IteratorToStringHandle(resource)
        context.default_graph().add_to_collection(GLOBAL_ITERATORS, resource)
        return made

    @staticmethod
    def from_structure(
        output_types: Nested,
        output_shapes: Nested = None,
        shared_name: str | None = None,
        output_classes: Nested = None,
    ) -> Iterator:
        """Return an iterator that any dataset with such elements can be given to: see `make_initializer`."""
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        resource = iterator_ops.IteratorV2(
            container="", shared_name=shared_name or "", **structure.types_and_shapes(spec)
        )
        return Iterator._of(resource, None, spec)

    @staticmethod
    def from_string_handle(
        string_handle: TensorLike, output_types: Nested, output_shapes: Nested = None, output_classes: Nested = None
    ) -> Iterator:
        """Return the iterator that a string, from `string_handle()`, stands for when the graph runs."""
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        handle = convert(string_handle, dtypes.string)
        resource = iterator_ops.IteratorFromStringHandleV2(handle, **structure.types_and_shapes(spec))
        return Iterator._of(resource, None, spec)

    @property
    def initializer(self) -> Effect:
        """The operation that starts this iterator over its dataset."""
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: DatasetV2, name: str | None = None) -> Effect:
        """Return the operation that starts this iterator over a dataset."""
        mine, theirs = self._spec, dataset.element_spec
        try:
            structure.assert_same(mine, theirs)
        except TypeError as error:
            raise ValueError(f"The elements of the dataset do not have the iterator's structure. {error}") from None
        for a, b in zip(structure.flatten(mine), structure.flatten(theirs), strict=True):
            if not a.is_compatible_with(b):
                raise TypeError(_unlike(mine, theirs))
        with name_scope(name, "make_initializer") as scope:
            return iterator_ops.MakeIterator(dataset._variant_tensor, self._resource, name=scope)

    def string_handle(self, name: str | None = None) -> Tensor:
        """Return the string that stands for this iterator in its session."""
        return self._name if name is None else iterator_ops.IteratorToStringHandle(self._resource, name=name)

    @property
    def output_types(self) -> Nested:
        return structure.legacy_types(self._spec)

    @property
    def output_shapes(self) -> Nested:
        return structure.legacy_shapes(self._spec)

    @property
    def output_classes(self) -> Nested:
        return structure.legacy_classes(self._spec)


def _unlike(mine: Any, theirs: Any) -> str:
    """Return in which respect the elements of a dataset are not those of an iterator."""
    for what, of in (("classes", structure.legacy_classes), ("types", structure.legacy_types)):
        if of(mine) != of(theirs):
            return f"Expected output {what} {of(mine)} but got dataset with output {what} {of(theirs)}."
    shapes = structure.legacy_shapes
    return f"Expected output shapes compatible with {shapes(mine)} but got dataset with output shapes {shapes(theirs)}."


def make_one_shot_iterator(dataset: DatasetV2) -> Any:
    """Return an iterator over a dataset that starts by itself, once in each session."""
    if context.executing_eagerly():
        return OwnedIterator(dataset)
    spec = dataset.element_spec
    body = _factory(dataset._variant_tensor)
    resource = iterator_ops.OneShotIterator(dataset_factory=body, **structure.types_and_shapes(spec))
    return Iterator._of(resource, None, spec)


def make_initializable_iterator(dataset: DatasetV2, shared_name: str | None = None) -> Iterator:
    """Return an iterator over a dataset that starts when its `initializer` is run."""
    if context.executing_eagerly():
        raise RuntimeError(
            "`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead."
        )
    spec = dataset.element_spec
    resource = iterator_ops.IteratorV2(container="", shared_name=shared_name or "", **structure.types_and_shapes(spec))
    return Iterator._of(resource, iterator_ops.MakeIterator(dataset._variant_tensor, resource), spec)


def _factory(variant: Any) -> FuncGraph:
    """Return the function that makes a dataset from nothing: a copy of all the nodes that do."""
    graph = variant.graph
    body = FuncGraph("make_dataset", graph)
    inside: dict[int, Any] = {}
    with context.scope(body):
        for node in needed_nodes([variant], set()):
            if not _may_be_copied(node._op):
                raise ValueError(
                    f"Cannot capture a stateful node (name:{node.name}, type:{node.type}) by value. A likely cause "
                    "of this error is that the dataset for which you are calling `make_one_shot_iterator()` captures a "
                    "stateful object, such as a `tf.Variable` or `tf.lookup.StaticHashTable`, which is not supported. "
                    "Use `make_initializable_iterator()` instead, and run its initializer before taking elements."
                )
            outputs = copy_node(node, [inside[id(t)] for t in node._inputs])
            inside.update(zip(map(id, node._outputs), outputs, strict=True))
        body.outputs = [inside[id(variant)]]
    body.closed = True
    return body


def _may_be_copied(op: Op) -> bool:
    if op.name in ("Placeholder", "PlaceholderV2"):
        return False
    return not op.keeps_state or op.facts.copyable


def get_output_types(dataset_or_iterator: Nested) -> Nested:
    """Return the dtypes of elements, in their structure."""
    return structure.legacy_types(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Nested) -> Nested:
    """Return the shapes of elements, in their structure."""
    return structure.legacy_shapes(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Nested) -> Nested:
    """Return the classes of elements, in their structure."""
    return structure.legacy_classes(dataset_or_iterator.element_spec)
