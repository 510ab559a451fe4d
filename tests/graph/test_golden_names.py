"""Graphs come out as TensorFlow's: node names, types, wiring, devices, static shapes, collections, attrs.

Every program of tests/golden/programs/graphs*.py was built in TensorFlow 1.15 and 2.21; here Ebbflow builds it and the
two descriptions are compared. What the six words of a node line are is told in `book.describe_node`.
"""

import pytest

from tests.golden.programs import graphs, replay

# Programs that wait for a part of TensorFlow that is not here yet, or that Ebbflow builds otherwise on purpose.
LATER = {
    "moving_averages": "initialized_value chooses by one If node, not by Switch and Merge",
    "moving_averages_with_updates": "the same",
    "countings": "tf.nn.zero_fraction counts in int64 at once, without TensorFlow's tf.cond on the size",
}
# TensorFlow 2 tries an empty list as float32 first and leaves that Const behind unused.
STRAY_CONSTANTS = {
    ("2.21", "composed_reductions"),
    ("2.21", "tensor_products"),
    ("2.21-v1", "composed_reductions"),
    ("2.21-v1", "tensor_products"),
}
CASES = [case for case in replay.cases("graphs") if case[1] not in LATER and tuple(case) not in STRAY_CONSTANTS]
WITH_ATTRS = [(judge, name) for judge, name in CASES if judge != "2.21-v1" and graphs.book[name].facts.get("graph_def")]
NAME, TYPE, INPUTS, CONTROLS, DEVICE, OUTPUTS = range(6)


def words(nodes, *columns):
    """The chosen columns of every node, by node name; the insides of gradients are for test_golden_gradients."""
    split = [node.split(" ") for node in nodes if "_grad/" not in node.split(" ")[NAME]]
    return {node[NAME]: tuple(node[column] for column in columns) for node in split}


def common(expected, given):
    """Both descriptions cut down to the nodes both have: a missing node is reported once, by the test of names."""
    shared = set(expected) & set(given)
    return {name: expected[name] for name in shared}, {name: given[name] for name in shared}


@pytest.mark.parametrize("judge, name", CASES)
def test_names_and_types(judge, name):
    expected, given = replay.outcome("graphs", judge, name)
    assert words(given["nodes"], TYPE) == words(expected["nodes"], TYPE)


@pytest.mark.parametrize("judge, name", CASES)
def test_order_of_creation(judge, name):
    expected, given = replay.outcome("graphs", judge, name)
    assert list(words(given["nodes"])) == list(words(expected["nodes"]))


@pytest.mark.parametrize("judge, name", CASES)
def test_wiring_and_devices(judge, name):
    expected, given = replay.outcome("graphs", judge, name)
    columns = (INPUTS, CONTROLS, DEVICE)
    wanted, got = common(words(expected["nodes"], *columns), words(given["nodes"], *columns))
    assert got == wanted


@pytest.mark.parametrize("judge, name", CASES)
def test_output_dtypes_and_static_shapes(judge, name):
    expected, given = replay.outcome("graphs", judge, name)
    wanted, got = common(words(expected["nodes"], OUTPUTS), words(given["nodes"], OUTPUTS))
    wrong = {node: (got[node], wanted[node]) for node in wanted if not as_specific(got[node][0], wanted[node][0])}
    assert not wrong


def as_specific(given, expected):
    """Whether outputs are what TensorFlow says, known at least as well: `float32[4,5]` serves for `float32[?,5]`."""
    if given == expected:
        return True
    ours, theirs = given.split(";"), expected.split(";")
    return len(ours) == len(theirs) and all(map(one_as_specific, ours, theirs))


def one_as_specific(given, expected):
    (dtype, _, dims), (wanted_dtype, _, wanted_dims) = given.partition("["), expected.partition("[")
    if dtype != wanted_dtype or not dims or not wanted_dims:
        return given == expected
    ours, theirs = dims.rstrip("]").split(","), wanted_dims.rstrip("]").split(",")
    return len(ours) == len(theirs) and all(b in ("?", a) for a, b in zip(ours, theirs, strict=True))


def test_a_lesser_known_shape_is_noticed():
    assert as_specific("float32[4,5]", "float32[?,5]") and as_specific("int32[]", "int32[]")
    assert not as_specific("float32[?,5]", "float32[4,5]") and not as_specific("float32[4,6]", "float32[?,5]")
    assert not as_specific("int32[4]", "float32[4]")


@pytest.mark.parametrize("judge, name", CASES)
def test_collections_and_facts(judge, name):
    expected, given = replay.outcome("graphs", judge, name)
    assert given["collections"] == expected["collections"]
    assert given["facts"] == expected["facts"]


@pytest.mark.parametrize("judge, name", WITH_ATTRS)
def test_attrs_in_the_graph_def(judge, name):
    expected, given = replay.outcome("graphs", judge, name)
    wanted, got = common(expected["attrs"], given["attrs"])
    assert got == wanted


def test_the_comparison_sees_a_changed_node():
    expected = replay.recorded("graphs", "1.15")["operators"]["nodes"]
    changed = [expected[0].replace("Placeholder", "Const"), *expected[1:]]
    assert words(changed, TYPE) != words(expected, TYPE)
