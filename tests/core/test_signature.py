"""Flat and grouped arguments of a call, by the op's interface."""

import numpy as np
import pytest

from ebbflow.core import dtypes
from ebbflow.core.op import Op
from ebbflow.core.signature import parse

LISTS = parse("Mixed(a:T, b:N*T, c:list(Ts), d:int32) -> (y:T, z:N*T) | T: type; N: int >= 1; Ts: list(type)")
ATTRS = {"T": dtypes.float32, "N": 2, "Ts": (dtypes.int32, dtypes.bool, dtypes.string)}


def test_inputs_are_grouped_by_number_and_by_types():
    assert LISTS.group_inputs([*"abbcccd"], ATTRS) == ["a", ["b", "b"], ["c", "c", "c"], "d"]
    assert [arg.name for arg in LISTS.each_input(ATTRS)] == [*"abbcccd"]
    assert [arg.count(ATTRS) for arg in LISTS.inputs] == [1, 2, 3, 1]
    types = [t.name for arg in LISTS.inputs for t in arg.types(ATTRS)]
    assert types == ["float32", "float32", "float32", "int32", "bool", "string", "int32"]


def test_an_empty_list_is_a_group_too():
    none = {**ATTRS, "N": 0, "Ts": ()}
    assert LISTS.group_inputs(["a", "d"], none) == ["a", [], [], "d"]
    assert LISTS.group_outputs(["y"], none) == ["y", []]


def test_results_and_dims_become_flat():
    assert LISTS.flat_results(("y", ["z", "w"])) == ["y", "z", "w"]
    assert LISTS.group_outputs(["y", "z", "w"], ATTRS) == ["y", ["z", "w"]]
    assert LISTS.flat_dims([(1,), (2,), (3,)]) == [(1,), (2,), (3,)]
    one = parse("One(x:float) -> (y:float)")
    assert one.flat_results("y") == ("y",)
    assert one.flat_dims((2, 3)) == [(2, 3)]
    one_list = parse("Parts(x:float) -> (y:N*float) | N: int >= 1")
    assert one_list.flat_results(["y", "z"]) == ["y", "z"]
    assert one_list.flat_dims([(1,), (2,)]) == [(1,), (2,)]
    nothing = parse("Nothing(x:float) -> ()")
    assert nothing.flat_results(None) == ()
    assert nothing.flat_dims(None) == []


@pytest.mark.parametrize("checks_first", [False, True])
def test_a_bound_op_takes_flat_arrays(checks_first):
    declared = Op("Bound(a:N*T, b:T) -> (y:T) | T: type; N: int; k: int", internal=True, checks_first=checks_first)
    declared.kernel(lambda xp, a, b, *, k: (sum(a) + b) * k)
    assert declared.bound({"T": dtypes.float32, "N": 2, "k": 3})(np.array(1.0), np.array(2.0), np.array(4.0)) == 21
