"""Nested structures: tensors in lists, tuples, dicts and the like, taken apart and put together again.

These are TensorFlow's `tf.nest` and `tensorflow.python.util.nest`. Dicts are walked by sorted key. `flatten` on a
single tensor or a flat list, which the eager path does, costs a dictionary hit an element. Knows `containers`; knows
nothing of tensors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core.composite import provide_nest, spec_of
from ebbflow.core.containers import (
    COMPOSITE,
    EXPANDING,
    MAPPING,
    NAMEDTUPLE,
    PLAIN,
    SEQUENCE,
    SPEC,
    Kind,
    Kinds,
    is_attrs,
    is_composite_tensor,
    is_mapping,
    is_mapping_view,
    is_namedtuple,
    is_nested,
    is_nested_or_composite,
    is_type_spec,
    rebuild,
    same_namedtuples,
)

if TYPE_CHECKING:
    from ebbflow.core.typing import Nested


# Other names of the same questions, through the years.
is_sequence = is_nested
is_sequence_or_composite = _is_nested_or_composite = is_nested_or_composite
_is_mapping, _is_mapping_view, _is_attrs, _is_namedtuple = is_mapping, is_mapping_view, is_attrs, is_namedtuple
_same_namedtuples, _is_composite_tensor, _is_type_spec = same_namedtuples, is_composite_tensor, is_type_spec

STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length {input_length}, "
    "while shallow structure has length {shallow_length}."
)
STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, "
    "while shallow structure has type {shallow_type}."
)
SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following keys "
    "that are not in the input_tree: {}."
)
INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input_tree has fewer items than the shallow_tree. Input structure has length {input_size}, "
    "while shallow structure has length {shallow_size}."
)
IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."
)

# ---- taking apart ----------------------------------------------------------------------------------------------------


def flatten(structure: Nested, expand_composites: bool = False) -> list[Any]:
    """Return the leaves of `structure` as a flat list; a leaf alone gives a list of one.

    >>> flatten([1, (2, {"b": 4, "a": 3})])
    [1, 2, 3, 4]
    """
    kinds = EXPANDING if expand_composites else PLAIN
    kind = kinds[structure.__class__]
    if kind is None:
        return [structure]
    leaves: list[Any] = []
    _flatten_into(leaves, kind.values(structure), kinds)
    return leaves


def _flatten_into(leaves: list[Any], values: Iterable[Any], kinds: Kinds) -> None:
    for value in values:
        kind = kinds[value.__class__]
        if kind is None:
            leaves.append(value)
        else:
            _flatten_into(leaves, kind.values(value), kinds)


def yield_flat_paths(nest: Nested, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield, for each leaf, the tuple of keys and indices that lead to it."""
    for path, _ in _leaves_with_paths(nest, EXPANDING if expand_composites else PLAIN, ()):
        yield path


def _leaves_with_paths(structure: Any, kinds: Kinds, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    kind = kinds[structure.__class__]
    if kind is None:
        yield path, structure
    else:
        for key, value in zip(kind.keys(structure), kind.values(structure), strict=True):
            yield from _leaves_with_paths(value, kinds, (*path, key))


def flatten_with_tuple_paths(structure: Nested, expand_composites: bool = False) -> list[tuple[tuple[Any, ...], Any]]:
    """Return `(path, leaf)` for each leaf; paths are tuples of keys and indices.

    >>> flatten_with_tuple_paths({"a": [5, 6]})
    [(('a', 0), 5), (('a', 1), 6)]
    """
    return list(_leaves_with_paths(structure, EXPANDING if expand_composites else PLAIN, ()))


def flatten_with_joined_string_paths(
    structure: Nested, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Return `(path, leaf)` for each leaf; paths are strings.

    >>> flatten_with_joined_string_paths({"a": [5, 6]})
    [('a/0', 5), ('a/1', 6)]
    """
    return [
        (separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a dict in which nested keys are paired, leaf by leaf, with their nested values.

    >>> flatten_dict_items({(1, (2, 3)): ("a", ("b", "c"))})
    {1: 'a', 2: 'b', 3: 'c'}
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError(
            "FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, "
            f"instead of '{type(dictionary).__name__}'."
        )
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = ([key], [value]) if not is_nested(key) else (flatten(key), flatten(value))
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                f"Key: {keys}, value: {values}."
            )
        for flat_key, flat_value in zip(keys, values, strict=True):
            if flat_key in flat:
                raise ValueError(f"Cannot flatten dict because this key is not unique: {flat_key}")
            flat[flat_key] = flat_value
    return flat


def _yield_value(iterable: Any) -> Iterator[Any]:
    for _, value in _yield_sorted_items(iterable):
        yield value


def _yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    kind = EXPANDING[iterable.__class__] or SEQUENCE
    yield from zip(kind.keys(iterable), kind.values(iterable), strict=True)


# ---- putting together ------------------------------------------------------------------------------------------------


def pack_sequence_as(structure: Nested, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Nested:
    """Return a structure like `structure` whose leaves are those of `flat_sequence`, in order.

    >>> pack_sequence_as({"a": [0, 0], "b": 0}, [1, 2, 3])
    {'a': [1, 2], 'b': 3}
    """
    kinds = EXPANDING if expand_composites else PLAIN
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {_truncated(flat_sequence)}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    if kinds[structure.__class__] is None:
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {_truncated(structure)}\n"
                f"However the input is a sequence ({type(flat_sequence)}) of length {len(flat_sequence)}.\n"
                f"  {_truncated(flat_sequence)}\nnest cannot guarantee that it is safe to map one to the other."
            )
        return next(iter(flat_sequence))
    atoms = len(flatten(structure, expand_composites))
    if atoms != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {atoms} atoms, but flat_sequence had {len(flat_sequence)} items.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, kinds, iter(flat_sequence))


def _pack(structure: Any, kinds: Kinds, leaves: Iterator[Any]) -> Any:
    kind = kinds[structure.__class__]
    if kind is None:
        return next(leaves)
    return rebuild(kind, structure, [_pack(value, kinds, leaves) for value in kind.values(structure)])


def _truncated(value: Any, length: int = 100) -> str:
    text = str(value)
    return text if len(text) <= length else text[:length] + "..."


def sequence_like(instance: object, args: Nested) -> Nested:
    """Return `args` as a sequence of the kind that `instance` is."""
    return rebuild(EXPANDING[instance.__class__] or SEQUENCE, instance, list(args))


_sequence_like = sequence_like  # its older name, which programs use too


def list_to_tuple(structure: Nested) -> Nested:
    """Return `structure` with every list in it made a tuple."""
    kind = PLAIN[structure.__class__]
    if kind is None:
        return structure
    values = [list_to_tuple(value) for value in kind.values(structure)]
    return tuple(values) if isinstance(structure, list) else rebuild(kind, structure, values)


# ---- mapping ---------------------------------------------------------------------------------------------------------


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Nested:
    """Return a structure like the first whose leaves are `func` of the leaves of all structures.

    >>> map_structure(lambda x, y: x + y, [1, {"a": 2}], [10, {"a": 20}])
    [11, {'a': 22}]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{'`, `'.join(kwargs)}`"
        )
    if len(structure) == 1:
        return _map(func, structure[0], EXPANDING if expand_composites else PLAIN)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    flat = [flatten(each, expand_composites) for each in structure]
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*flat, strict=True)], expand_composites)


def _map(func: Callable[[Any], Any], structure: Any, kinds: Kinds) -> Any:
    kind = kinds[structure.__class__]
    if kind is None:
        return func(structure)
    return rebuild(kind, structure, [_map(func, value, kinds) for value in kind.values(structure)])


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Nested:
    """Like `map_structure`, with `func(path, *leaves)`; the path is a string joined with `/`."""

    def with_joined_path(path: tuple[Any, ...], *leaves: Any, **more: Any) -> Any:
        return func("/".join(map(str, path)), *leaves, **more)

    return map_structure_with_tuple_paths_up_to(structure[0], with_joined_path, *structure, **kwargs)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Nested:
    """Like `map_structure`, with `func(path, *leaves)`; the path is a tuple of keys and indices."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_up_to(shallow_tree: Nested, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Nested:
    """Map over `inputs` as deep as `shallow_tree` goes: below its leaves, `func` gets whole subtrees.

    >>> map_structure_up_to([0, 0], len, [[1, 2], [3]])
    [2, 1]
    """
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *subtrees, **more: func(*subtrees, **more), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Nested, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Nested:
    """Like `map_structure_up_to`, with `func(path, *subtrees)`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    flat = [
        flatten_up_to(shallow_tree, each, check_types=check_types, expand_composites=expand_composites)
        for each in inputs
    ]
    paths = yield_flat_paths(shallow_tree, expand_composites)
    results = [func(path, *subtrees, **kwargs) for path, *subtrees in zip(paths, *flat, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


# ---- comparing -------------------------------------------------------------------------------------------------------


def assert_same_structure(
    nest1: Nested, nest2: Nested, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise unless both structures nest alike: ValueError for another shape or keys, TypeError for other containers."""
    difference = _difference(nest1, nest2, check_types, EXPANDING if expand_composites else PLAIN)
    if difference is None:
        return
    error, words = difference
    raise error(
        f"The two structures don't have the same nested structure.\n\nFirst structure: {_described(nest1)}\n\n"
        f"Second structure: {_described(nest2)}\n\nMore specifically: {words}\n"
        f"Entire first structure:\n{_outline(nest1)}\nEntire second structure:\n{_outline(nest2)}"
    )


Difference = tuple[type[Exception], str]


def _difference(a: Any, b: Any, check_types: bool, kinds: Kinds) -> Difference | None:
    """The first difference between two structures: the error class for it, and words; None if there is none."""
    kind_a, kind_b = kinds[a.__class__], kinds[b.__class__]
    if kind_a is None or kind_b is None:
        if kind_a is kind_b:
            return None
        sequence, other = (b, a) if kind_a is None else (a, b)
        return ValueError, (
            f'Substructure "{_described(sequence)}" is a sequence, while substructure "{_described(other)}" is not'
        )
    if check_types:
        found = _type_difference(a, b, kind_a, kind_b)
        if found is not None:
            return found
    values_a, values_b = iter(kind_a.values(a)), iter(kind_b.values(b))
    for value_a in values_a:
        value_b = next(values_b, _END)
        if value_b is _END:
            return _count_difference(a, b)
        found = _difference(value_a, value_b, check_types, kinds)
        if found is not None:
            return found
    return None if next(values_b, _END) is _END else _count_difference(a, b)


_END = object()


def _count_difference(a: Any, b: Any) -> Difference:
    return ValueError, (
        f"The two structures don't have the same number of elements. First structure: {_described(a)}. "
        f"Second structure: {_described(b)}"
    )


def _type_difference(a: Any, b: Any, kind_a: Kind, kind_b: Kind) -> Difference | None:
    """Whether two containers are of different sorts: all lists are one sort, all mappings too."""
    if kind_a is MAPPING and kind_b is MAPPING:
        if a.keys() == b.keys():
            return None
        return ValueError, (
            "The two dictionaries don't have the same set of keys. "
            f"First structure has keys {_described(list(a))}, while second structure has keys {_described(list(b))}"
        )
    if kind_a in (COMPOSITE, SPEC) and kind_b in (COMPOSITE, SPEC):
        if spec_of(a).most_specific_common_supertype([spec_of(b)]) is not None:
            return None
        return ValueError, (
            f"Incompatible CompositeTensor TypeSpecs: {_described(spec_of(a))} vs. {_described(spec_of(b))}"
        )
    if a.__class__ is b.__class__ or (isinstance(a, list) and isinstance(b, list)):
        return None
    if kind_a is NAMEDTUPLE and kind_b is NAMEDTUPLE and same_namedtuples(a, b):
        return None
    return TypeError, (
        "The two namedtuples don't have the same sequence type. "
        f"First structure {_described(a)} has type {_full_name(a.__class__)}, "
        f"while second structure {_described(b)} has type {_full_name(b.__class__)}"
    )


def _described(value: Any) -> str:
    return f"type={value.__class__.__name__} str={value}"


def _full_name(cls: type) -> str:
    """The name CPython keeps for a class: with its module only for those written in C."""
    written_in_c = not cls.__flags__ & (1 << 9)  # Py_TPFLAGS_HEAPTYPE
    return f"{cls.__module__}.{cls.__name__}" if written_in_c and cls.__module__ != "builtins" else cls.__name__


class _Dot:
    def __repr__(self) -> str:
        return "."


def _outline(structure: Any) -> str:
    dot = _Dot()
    return str(_map(lambda _: dot, structure, PLAIN))


# ---- walking one structure as deep as another ------------------------------------------------------------------------


def assert_shallow_structure(
    shallow_tree: Nested,
    input_tree: Nested,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Raise unless `input_tree` nests like `shallow_tree`, as deep as that goes."""
    kinds = EXPANDING if expand_composites else PLAIN
    _check_shallow(shallow_tree, input_tree, check_types, check_subtrees_length, kinds)


def _check_shallow(shallow: Any, deep: Any, check_types: bool, check_lengths: bool, kinds: Kinds) -> None:
    kind = kinds[shallow.__class__]
    if kind is None:
        return
    deep_kind = kinds[deep.__class__]
    if deep_kind is None:
        raise TypeError(IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(deep)))
    if check_types:
        _check_shallow_types(shallow, deep, kind, deep_kind)
    if kind is not COMPOSITE and kind is not SPEC:
        _check_shallow_keys(shallow, deep, kind, deep_kind, check_lengths)
    for _, shallow_child, deep_child in _pairs(shallow, deep, kind, deep_kind):
        _check_shallow(shallow_child, deep_child, check_types, check_lengths, kinds)


def _check_shallow_types(shallow: Any, deep: Any, kind: Kind, deep_kind: Kind) -> None:
    if kind in (COMPOSITE, SPEC) and deep_kind in (COMPOSITE, SPEC):
        mine, theirs = spec_of(shallow), spec_of(deep)
        if mine.most_specific_common_supertype([theirs]) is None:
            raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {mine} vs. {theirs}")
        return
    alike = (
        isinstance(deep, shallow.__class__)
        or (isinstance(shallow, list) and isinstance(deep, list))
        or (kind is MAPPING and deep_kind is MAPPING)
        or (kind is NAMEDTUPLE and deep_kind is NAMEDTUPLE and same_namedtuples(shallow, deep))
    )
    if not alike:
        raise TypeError(STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(deep), shallow_type=type(shallow)))


def _check_shallow_keys(shallow: Any, deep: Any, kind: Kind, deep_kind: Kind, check_lengths: bool) -> None:
    keys, deep_keys = list(kind.keys(shallow)), list(deep_kind.keys(deep))
    if check_lengths and len(keys) != len(deep_keys):
        raise ValueError(
            STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=len(deep_keys), shallow_length=len(keys))
        )
    if len(deep_keys) < len(keys):
        raise ValueError(INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(input_size=len(deep_keys), shallow_size=len(keys)))
    if kind is MAPPING:
        absent = [key for key in keys if key not in deep_keys]
        if absent:
            raise ValueError(SHALLOW_TREE_HAS_INVALID_KEYS.format(absent))


def _pairs(shallow: Any, deep: Any, kind: Kind, deep_kind: Kind) -> Iterator[tuple[Any, Any, Any]]:
    """Each child of `shallow` with its key and its counterpart: by key in mappings, else by position."""
    if kind is MAPPING and deep_kind is MAPPING:
        for key in kind.keys(shallow):
            yield key, shallow[key], deep[key]
    else:
        yield from zip(kind.keys(shallow), kind.values(shallow), deep_kind.values(deep), strict=False)


def flatten_up_to(
    shallow_tree: Nested,
    input_tree: Nested,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """Return the subtrees of `input_tree` that stand where `shallow_tree` has leaves.

    >>> flatten_up_to([0, {"a": 0}], [[1, 2], {"a": 3}])
    [[1, 2], 3]
    """
    found = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [subtree for _, subtree in found]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Nested,
    input_tree: Nested,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[tuple[Any, ...], Any]]:
    """Like `flatten_up_to`, each subtree with the path that leads to it."""
    kinds = EXPANDING if expand_composites else PLAIN
    _check_shallow(shallow_tree, input_tree, check_types, check_subtrees_length, kinds)
    return list(_subtrees_with_paths(shallow_tree, input_tree, kinds, ()))


def _subtrees_with_paths(
    shallow: Any, deep: Any, kinds: Kinds, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    kind, deep_kind = kinds[shallow.__class__], kinds[deep.__class__]
    if kind is None or deep_kind is None:
        yield path, deep
    else:
        for key, shallow_child, deep_child in _pairs(shallow, deep, kind, deep_kind):
            yield from _subtrees_with_paths(shallow_child, deep_child, kinds, (*path, key))


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Nested, expand_composites: bool = False
) -> Nested:
    """Return a shallow structure of bools: `traverse_fn` says of each container whether to go on into it.

    It answers with a bool for the whole, or with a structure of bools, one for each child.
    """
    kinds = EXPANDING if expand_composites else PLAIN
    answer = traverse_fn(structure)
    kind = kinds[structure.__class__]
    if kind is None:
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        children = list(kind.values(structure))
        answers = [True] * len(children)
    else:
        answers, children = _answers_by_child(answer, structure, kinds)
    level = [
        get_traverse_shallow_structure(traverse_fn, child, expand_composites) if go_on else False
        for go_on, child in zip(answers, children, strict=True)
    ]
    return rebuild(kind, structure, level)


def _answers_by_child(answer: Any, structure: Any, kinds: Kinds) -> tuple[list[bool], list[Any]]:
    kind = kinds[answer.__class__]
    if kind is None:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
    _check_shallow(answer, structure, True, True, kinds)
    answers = list(kind.values(answer))
    if not all(isinstance(each, bool) for each in answers):
        raise TypeError(
            f"traverse_fn didn't return a depth=1 structure of bools.  saw: {answer}  for structure: {structure}"
        )
    return answers, list(kinds[structure.__class__].values(structure))  # type: ignore[union-attr]


provide_nest(sys.modules[__name__])
