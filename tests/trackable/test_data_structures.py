"""Lists, dicts and tuples as attributes: what they hold is found by name, and they stay what they were."""

from __future__ import annotations

import collections
import copy
import pickle

import pytest

import ebbflow as tf
from ebbflow.trackable.auto import AutoTrackable
from ebbflow.trackable.base import Trackable, no_automatic_dependency_tracking
from ebbflow.trackable.data_structures import List, Mapping, NoDependency, wrap_or_unwrap
from ebbflow.trackable.wrappers import ListWrapper, _DictWrapper, _TupleWrapper

Pair = collections.namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1], ListWrapper),
        ({}, _DictWrapper),
        (collections.OrderedDict(a=1), _DictWrapper),
        ((1, 2), tuple),
        (([1], 2), _TupleWrapper),
        (Pair([1], 2), _TupleWrapper),
        (Pair(1, 2), Pair),
        (collections.defaultdict(list), collections.defaultdict),
        ("text", str),
    ],
)
def test_what_becomes_of_a_container(value, kind):
    wrapped = wrap_or_unwrap(value)
    assert issubclass(type(wrapped), kind)
    assert isinstance(wrapped, type(value))
    assert wrapped == value
    assert len(wrapped) == len(value)
    assert list(reversed(wrapped)) == list(reversed(value))


def test_children_have_names_of_their_places():
    root = AutoTrackable()
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    root.items = [v, 3]
    root.table = {"w": w, "text": "x"}
    root.pair = Pair(v, 1)
    assert list(root._trackable_children()) == ["items", "table", "pair"]
    assert root.items._trackable_children() == {"0": v}
    assert root.table._trackable_children() == {"w": w}
    assert set(root.pair._trackable_children()) == {"0", "left"}
    root.items.append({"deep": [w]})
    assert root.items[2]["deep"]._trackable_children() == {"0": w}


def test_attributes_that_are_not_tracked():
    class Holder(AutoTrackable):
        @no_automatic_dependency_tracking
        def set_quietly(self, value):
            self.quiet = value

    root = Holder()
    root.set_quietly([1])
    root.free = NoDependency([AutoTrackable()])
    assert type(root.quiet) is list
    assert type(root.free) is list
    assert root._trackable_children() == {}


def test_replacing_and_deleting_attributes():
    root, first, second = AutoTrackable(), AutoTrackable(), AutoTrackable()
    root.a = first
    root.b = first
    root.a = second
    assert root._trackable_children() == {"a": second, "b": first}
    del root.a
    assert root._trackable_children() == {"b": first}


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.insert(0, 1),
        lambda x: x.__delitem__(0),
        lambda x: x.__setitem__(0, 3),
        lambda x: x.pop(),
        lambda x: x.reverse(),
        lambda x: x.__imul__(0),
    ],
)
def test_a_list_that_was_rearranged_says_so_when_it_is_saved(change):
    items = ListWrapper([AutoTrackable(), AutoTrackable()])
    change(items)
    with pytest.raises(ValueError, match="append-only"):
        items._trackable_children()


def test_a_container_that_was_changed_behind_its_back_says_so():
    root, items, table = AutoTrackable(), [AutoTrackable()], {}
    root.items, root.table = items, table
    items.append(1)
    table["a"] = AutoTrackable()
    for wrapped in (root.items, root.table):
        with pytest.raises(ValueError, match="modified outside the wrapper"):
            wrapped._trackable_children()
    numbers = {1: AutoTrackable()}
    with pytest.raises(ValueError, match="non-string key"):
        _DictWrapper(numbers)._trackable_children()


def test_lists_and_dicts_behave_as_such():
    items = ListWrapper([3, 1])
    items += [2]
    items.sort()
    assert items == [1, 2, 3]
    assert items[1:] == [2, 3]
    assert [0, *items] == [0, 1, 2, 3]
    before, after = [0], [4]
    assert before + items == [0, 1, 2, 3]
    assert items + after == [1, 2, 3, 4]
    assert 2 in items
    assert copy.deepcopy(items) == items
    assert pickle.loads(pickle.dumps(items)) == items
    with pytest.raises(TypeError):
        hash(items)
    table = _DictWrapper({"a": 1})
    table.update(b=2)
    assert {**table} == {"a": 1, "b": 2}
    assert table.pop("a") == 1
    assert table.setdefault("c", []) == []
    assert type(copy.copy(table)) is type(table)  # wrapt's kind once wrapt is imported
    assert tf.nest.flatten(table) == [2]
    assert tf.nest.map_structure(lambda x: x + 1, ListWrapper([1])) == [2]


def test_made_by_hand_they_only_grow():
    item = AutoTrackable()
    with pytest.raises(ValueError, match="Only trackable objects"):
        List([1])
    with pytest.raises(TypeError, match="string keys"):
        Mapping()[1] = item
    grown = Mapping(a=item)
    with pytest.raises(ValueError, match="append-only"):
        grown["a"] = AutoTrackable()
    assert List([item, item])._trackable_children() == {"0": item, "1": item}


def test_names_are_taken_once():
    root = AutoTrackable()
    root._track_trackable(AutoTrackable(), "a")
    with pytest.raises(ValueError, match="Names must be unique"):
        root._track_trackable(AutoTrackable(), "a")
    with pytest.raises(TypeError, match="objects of type Trackable"):
        root._track_trackable(3, "b")


def test_weights_of_a_container_are_those_of_its_parts():
    inner = tf.Module()
    inner.v, inner.frozen = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    parts = List([inner, tf.Variable(3.0)])
    assert [float(v) for v in parts.trainable_weights] == [3.0, 1.0]
    assert [float(v) for v in parts.non_trainable_weights] == [2.0]
    parts.trainable = False
    assert parts.trainable_weights == []
    assert len(parts.non_trainable_weights) == 3


def test_functions_take_a_list_attribute_as_a_list():
    @tf.function
    def first(items):
        return items[0]

    plain = first.get_concrete_function([tf.constant(2.0)])
    assert first.get_concrete_function(ListWrapper([tf.constant(3.0)])) is plain


def test_fields_win_over_the_wrapper():
    odd = collections.namedtuple("Odd", "variables trainable")
    wrapped = _TupleWrapper(odd([AutoTrackable()], 3))
    assert wrapped.trainable == 3
    assert isinstance(wrapped.variables, ListWrapper)
    assert isinstance(wrapped, Trackable)


def test_a_copy_of_a_dict_that_cannot_be_saved_cannot_be_saved():
    module, original = tf.Module(), {"a": [1.0]}
    module.table = original
    original["b"] = []
    for copied in (copy.copy(module.table), copy.deepcopy(module.table)):
        with pytest.raises(ValueError, match="modified outside the wrapper"):
            copied._trackable_children()


def test_saving_and_restoring_ask_for_no_text_of_the_values(tmp_path):
    class Silent(tf.Module):
        def __repr__(self):
            raise AssertionError("nobody should ask")

    module = Silent()
    module.v = tf.Variable(1.0)
    root = tf.train.Checkpoint(listed=[module], keyed={"a": module})
    path = root.write(str(tmp_path / "c"))
    module.v.assign(2.0)
    root.read(path).assert_consumed()
    assert module.v.numpy() == 1.0


def test_proxies_are_those_of_wrapt_where_it_is_imported():
    import wrapt  # of the extra keras2

    module = tf.Module()
    module.table, module.pair = {"x": [tf.Variable(1.0)], "y": (1, {"z": 2})}, Pair([1], {"k": tf.Variable(2.0)})
    for held, plain in [(module.table, dict), (module.pair, tuple), (module.table["y"], tuple)]:
        assert isinstance(held, wrapt.ObjectProxy)
        assert isinstance(held, plain)
        assert held.__wrapped__ == held == copy.copy(held)
        mapped = tf.nest.map_structure(lambda _: 0, held)
        assert type(mapped) is type(held)
        tf.nest.assert_same_structure(mapped, held)
    module.table["more"] = tf.Variable(3.0)
    assert [float(v) for v in module.variables] == [2.0, 3.0, 1.0]
    assert module.pair.right["k"] is module.pair[1]["k"]
    del module.table["more"]
    assert sorted(module.table) == ["x", "y"]
