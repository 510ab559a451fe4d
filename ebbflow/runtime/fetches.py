"""Fetches and feeds: from what the user names to tensors, and from values back to the user's structure.

A fetch may be a tensor, an operation, a variable, a name, or any nesting of these in lists, tuples, dictionaries,
named tuples; further classes register with `register_session_run_conversion_functions`.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.shape import dims_str, is_compatible
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.graph.symbolic import Operation, SymbolicTensor

Rebuild = Callable[[list[Any]], Any]
_conversions: list[tuple[type, Callable[..., Any], Any, Any]] = []


def register_session_run_conversion_functions(
    tensor_type: type, fetch_function: Any, feed_function: Any = None, feed_function_for_partial_run: Any = None
) -> None:
    """Let values of `tensor_type` be fetched and fed: each function takes the object and gives its tensors."""
    for known, *_ in _conversions:
        if issubclass(tensor_type, known):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _conversions.insert(0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def _with_integers(rebuild: Rebuild) -> Rebuild:
    """Return a rebuilding of values among which are quantized ones: a program is handed plain integers for them."""
    return lambda values: rebuild([v if getattr(v, "dtype", None) is None else dtypes.as_integers(v) for v in values])


class Fetch:
    """A fetch as the user wrote it: the graph elements it needs, and how to build the answer from their values."""

    def __init__(self, graph: Any, fetch: Any):
        self.elements: list[Any] = []
        self._index: dict[int, int] = {}
        self._graph = graph
        self._rebuild = self._follow(fetch)
        if any(getattr(getattr(e, "dtype", None), "is_quantized", False) for e in self.elements):
            self._rebuild = _with_integers(self._rebuild)

    def rebuild(self, values: list[Any]) -> Any:
        """Return the answer, in the structure of the fetch."""
        return self._rebuild(values)

    def _follow(self, fetch: Any) -> Rebuild:
        if fetch is None:
            raise TypeError(f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}". Cannot be None')
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, collections.abc.Mapping):
            keys, parts = list(fetch), [self._follow(v) for v in fetch.values()]
            kind = type(fetch)
            return lambda values: _mapping(kind, keys, [p(values) for p in parts], fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [a.name for a in type(fetch).__attrs_attrs__]
            parts = [self._follow(getattr(fetch, n)) for n in names]
            return lambda values: type(fetch)(*[p(values) for p in parts])
        for known, fetch_function, *_ in _conversions:
            if isinstance(fetch, known):
                tensors, contract = fetch_function(fetch)
                parts = [self._follow(t) for t in tensors]
                return lambda values: contract([p(values) for p in parts])
        if isinstance(fetch, IndexedSlices):
            return self._slices(fetch)
        if isinstance(fetch, SparseTensor):
            parts = [self._follow(t) for t in fetch._flatten()]
            return lambda values: SparseTensorValue(*[p(values) for p in parts])
        if hasattr(type(fetch), "_fetched"):  # ragged
            parts = [self._follow(t) for t in fetch._type_spec._to_components(fetch)]
            return lambda values: fetch._fetched([p(values) for p in parts])
        return self._one(fetch)

    def _sequence(self, fetch: Any) -> Rebuild:
        parts = [self._follow(f) for f in fetch]
        if isinstance(fetch, tuple) and hasattr(fetch, "_fields"):
            return lambda values: type(fetch)(*[p(values) for p in parts])
        if type(fetch) in (list, tuple):
            return lambda values: type(fetch)([p(values) for p in parts])
        return lambda values: [p(values) for p in parts]

    def _slices(self, fetch: IndexedSlices) -> Rebuild:
        parts = [self._follow(t) for t in fetch._flatten()]

        def rebuild(values: list[Any]) -> Any:
            found = [p(values) for p in parts]
            return IndexedSlicesValue(found[0], found[1], found[2] if len(found) > 2 else None)

        return rebuild

    def _one(self, fetch: Any) -> Rebuild:
        if isinstance(fetch, EagerTensor):
            raise TypeError(
                f"Argument `fetch` = {fetch!r} has invalid type: an eager tensor has its value already (.numpy())"
            )
        try:
            element = self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or '
                f"Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})") from None
        if not self._graph.is_fetchable(element):
            raise ValueError(f"Operation {element.name!r} has been marked as not fetchable.")
        index = self._index.setdefault(id(element), len(self.elements))
        if index == len(self.elements):
            self.elements.append(element)
        return lambda values: values[index]


def _mapping(kind: type, keys: list[Any], values: list[Any], fetch: Any) -> Any:
    pairs = list(zip(keys, values, strict=True))
    if kind is dict:
        return dict(pairs)
    factory = getattr(fetch, "default_factory", None)
    return kind(factory, pairs) if factory is not None else kind(pairs)


class IndexedSlicesValue(tuple):
    """What a fetched IndexedSlices is: values, indices, dense_shape."""

    __slots__ = ()
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])
    dense_shape = property(lambda self: self[2])

    def __new__(cls, values: Any, indices: Any, dense_shape: Any = None) -> IndexedSlicesValue:
        return tuple.__new__(cls, (values, indices, dense_shape))


def expand_feeds(graph: Any, feed_dict: Any) -> list[tuple[SymbolicTensor, Any]]:
    """Return pairs of tensor and value for a feed dictionary."""
    pairs: list[tuple[SymbolicTensor, Any]] = []
    for key, value in feed_dict.items():
        for item, part in _expand_feed(key, value):
            try:
                tensor = graph.as_graph_element(item, allow_tensor=True, allow_operation=False)
            except Exception as error:
                raise TypeError(
                    f"Cannot interpret feed_dict key as Tensor: {error.args[0] if error.args else error}"
                ) from None
            pairs.append((tensor, part))
    return pairs


def _expand_feed(key: Any, value: Any) -> Sequence[tuple[Any, Any]]:
    if isinstance(key, (tuple, list)):
        if len(key) != len(value):
            raise ValueError(f"the feed for {key} has {len(value)} values for {len(key)} tensors")
        return [pair for item, part in zip(key, value, strict=True) for pair in _expand_feed(item, part)]
    for known, _, feed_function, _ in _conversions:
        if isinstance(key, known) and feed_function is not None:
            return list(feed_function(key, value))
    if isinstance(key, (IndexedSlices, SparseTensor)):
        return list(zip(key._flatten(), value, strict=False))
    if hasattr(type(key), "_fetched"):
        return list(zip(key._type_spec._to_components(key), key._to_feed(value), strict=True))
    return [(key, value)]


def feed_array(tensor: SymbolicTensor, value: Any) -> np.ndarray:
    """Return the array to feed, of the tensor's dtype and a shape it allows."""
    dtype = tensor._dtype.base_dtype
    kind = value.__class__
    if kind is np.ndarray and value.dtype is dtype.np:
        array = value if dtype is not dtypes.string or not any(type(v) is str for v in value.flat) else _strings(value)
    else:
        array = _convert(tensor, value, dtype)
    dims = tensor._dims
    if dims is not None and dims != array.shape and not is_compatible(dims, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape '{dims_str(dims)}'"
        )
    return array


def _convert(tensor: SymbolicTensor, value: Any, dtype: dtypes.DType) -> np.ndarray:
    if isinstance(value, EagerTensor):
        value = value._array
    elif isinstance(value, (Tensor, Operation)):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
            "strings, lists, "
            f"numpy ndarrays, or TensorHandles. For reference, the tensor object was {value!r} which was passed to the "
            f"argument `feed_dict` with key {tensor!r}."
        )
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and dtype.is_integer
        and not dtype.min <= value <= dtype.max
    ):
        raise TypeError(
            f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
            f"{dtype.as_numpy_dtype}. "
            "Try explicitly setting the type of the feed tensor to a larger type (e.g. int64)."
        )
    if dtype is dtypes.string:
        return _strings(value)
    try:
        return np.asarray(value, dtype=dtype.np)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(
            f"Cannot feed {_brief(value)} for Tensor {tensor.name} of dtype {dtype.name}: {error}"
        ) from None


def _strings(value: Any) -> np.ndarray:
    array = np.asarray(value, dtype=object)
    result = np.empty(array.shape, dtype=object)
    flat = result.reshape(-1)
    for i, item in enumerate(array.reshape(-1)):
        flat[i] = (
            item.encode()
            if isinstance(item, str)
            else bytes(item)
            if isinstance(item, (bytes, bytearray))
            else str(item).encode()
        )
    return result


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 100 else text[:100] + "…"
