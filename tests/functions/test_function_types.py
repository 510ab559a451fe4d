"""Types of functions, which of several functions serves a call, and tracing without a `tf.function`."""

from __future__ import annotations

import functools
import importlib
import itertools
import pickle

import pytest

import ebbflow as tf
from ebbflow.functions.default_types import Attrs, Dict, List, NamedTuple, Tuple
from ebbflow.functions.function_spec import FunctionSpec, make_function_type
from ebbflow.functions.function_types import FunctionType, Parameter, sanitize_arg_name
from ebbflow.functions.trace_type_api import (
    InternalPlaceholderContext,
    canonicalize_to_monomorphic,
    from_structured_signature,
    from_value,
)
from ebbflow.functions.tracing_compilation import TracingOptions, call_function, trace_function
from ebbflow.functions.type_dispatch import FunctionCache, FunctionContext, TypeDispatchTable

BOTH = Parameter.POSITIONAL_OR_KEYWORD
SPEC = tf.TensorSpec(None)


def of(*shapes: int | None) -> FunctionType:
    return FunctionType([Parameter("x", BOTH, False, tf.TensorSpec(shapes))])


def test_a_python_function_without_types():
    kind = FunctionType.from_callable(lambda x, y=1, *, z=2: None)
    assert [(p.name, p.optional, p.type_constraint) for p in kind.parameters.values()] == [
        ("x", False, None), ("y", True, None), ("z", True, None),
    ]  # fmt: skip
    assert str(kind) == "(x, y=<captured_default_value>, *, z=<captured_default_value>)"
    bound = kind.bind_with_defaults((5,), {"z": 7}, {"y": 1, "z": 2})
    assert (bound.args, bound.kwargs) == ((5, 1), {"z": 7})
    assert pickle.loads(pickle.dumps(kind)) == kind and hash(kind) == hash(pickle.loads(pickle.dumps(kind)))


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "names", "positional"),
    [
        (lambda x, y=2: None, (1,), {}, ["x", "y"], (1, 2)),
        (lambda *a: None, (1, 2), {}, ["a_0", "a_1"], (1, 2)),
        (lambda x, *a: None, (1, 2), {}, ["x", "a_0"], (1, 2)),
        (lambda **k: None, (), {"b": 1, "a": 2}, ["a", "b"], ()),
    ],
)
def test_the_type_of_a_call(function, args, kwargs, names, positional):
    kind, defaults = make_function_type(function, None)
    found, _ = canonicalize_to_monomorphic(args, kwargs, defaults, {}, kind)
    assert list(found.parameters) == names
    stands = found.placeholder_arguments(InternalPlaceholderContext())
    assert stands.args == positional and set(stands.kwargs) == set(names[len(positional) :])


def test_which_function_serves_where_another_is_asked_for():
    wide, narrow, other = of(None, 2), of(1, 2), of(1, 2, 3)
    assert narrow.is_supertype_of(wide) and not wide.is_supertype_of(narrow) and not narrow.is_supertype_of(other)
    assert narrow.most_specific_common_subtype([of(3, 2)]) == wide
    assert narrow.most_specific_common_subtype([FunctionType([])]) is None
    with pytest.raises(TypeError, match="partially specified"):
        narrow.is_supertype_of(FunctionType([Parameter("x", BOTH, False, None)]))
    a, b = (FunctionType([], dict.fromkeys(names, from_value(1))) for names in ("ab", "abc"))
    assert a.is_supertype_of(b) and not b.is_supertype_of(a)
    assert list(a.most_specific_common_subtype([b]).captures) == ["a", "b", "c"]


def test_a_table_answers_with_the_first_narrowest_type():
    table = TypeDispatchTable()
    for kind in (of(None, None, 3), of(None, 2, None), of(1, 2, None)):
        table.add_target(kind)
    assert table.dispatch(of(1, 2, 3)) == of(None, None, 3)
    assert table.dispatch(of(1, 2, 4)) == of(1, 2, None)
    table.delete(of(1, 2, None))
    assert table.dispatch(of(1, 2, 4)) == of(None, 2, None) and table.dispatch(of(1, 4)) is None
    assert table.try_generalizing_function_type(of(7, 2, 8)) == of(None, None, None)


@pytest.mark.parametrize("order", list(itertools.permutations([(1, 1), (1, None), (None, None)])))
def test_a_cache_keeps_functions_of_each_context_apart(order):
    class Kept:
        def __init__(self, kind):
            self.function_type = kind

    cache, there = FunctionCache(), FunctionContext("there")
    for shape in order:
        cache.add(Kept(of(*shape)), there)
    assert cache.lookup(of(1, 5), there).function_type == of(1, None)
    assert cache.lookup(of(1, 5)) is None and len(cache) == 3
    assert cache.delete(of(1, None), there) and not cache.delete(of(1, None), there)
    assert cache.lookup(of(1, 5), there).function_type == of(None, None)


def test_types_made_by_hand_are_those_that_tracing_finds():
    class Pair(tuple):
        pass

    named = importlib.import_module("collections").namedtuple("Named", "a b")
    one, two = from_value(1), from_value(2)
    rows = [
        (List, [1, 2]),
        (Tuple, (1, 2)),
        (functools.partial(NamedTuple.from_type_and_attributes, named), named(1, 2)),
    ]
    for make, value in rows:
        made = make((one, two)) if isinstance(make, functools.partial) else make(one, two)
        assert made == from_value(value)
    assert Dict({"b": two, "a": one}) == from_value({"a": 1, "b": 2})
    assert List(one) != Tuple(one) and hasattr(Attrs, "from_type_and_attributes")


@pytest.mark.parametrize("name", ["42", "a%$", "foo"])
def test_names_of_parameters(name):
    assert sanitize_arg_name(name) == {"42": "arg_42", "a%$": "a__", "foo": "foo"}[name]


def test_a_signature_by_example():
    kind = from_structured_signature(((1, [2]), {"a": 3}), 4)
    assert str(kind) == "(arg_0: Literal[1], arg_1: List[Literal[2]], /, *, a: Literal[3]) -> Literal[4]"


@pytest.mark.parametrize("signature", [(SPEC,), (SPEC, SPEC), ([SPEC, SPEC], SPEC)])
def test_what_a_signature_says_of_a_function(signature):
    spec = FunctionSpec.from_function_and_signature(lambda x, y=3: None, signature)
    assert tuple(spec.fullargspec) == (["x", "y"], None, None, (3,), [], None, {})
    assert spec.input_signature == signature and spec.default_values == {"y": 3}
    assert spec.function_type.parameters["y"].type_constraint == from_value(signature[1] if len(signature) > 1 else 3)


def test_a_signature_that_does_not_fit_says_how():
    for function, signature, says in [
        (lambda x: None, [SPEC, SPEC], "1 extra type constraints"),
        (lambda x, y: None, [SPEC], "missing type constraint for y"),
        (lambda x, *, y: None, [SPEC], "keyword-only parameter `y` must have a default"),
    ]:
        with pytest.raises(TypeError, match=says):
            make_function_type(function, signature)


def compiled(function, signature=None, **options):
    kind, defaults = make_function_type(function, signature)
    return lambda *args, **kwargs: call_function(
        args, kwargs, TracingOptions(function, polymorphic_type=kind, default_values=defaults, **options)
    )


def test_traces_are_kept_in_the_cache_that_is_given():
    cache = FunctionCache()
    double = compiled(lambda x: x + x, function_cache=cache, reduce_retracing=True)
    assert double(tf.constant([1.0])).numpy() == [2.0] and len(cache) == 1
    double(tf.constant([1.0, 2.0]))
    double(tf.constant([1.0, 2.0, 3.0]))
    assert len(cache) == 2


def test_each_trace_makes_its_own_variables():
    made = []

    def count():
        made.append(tf.Variable(1.0))
        return made[-1].read_value()

    for _ in range(2):
        assert float(call_function(tracing_options=TracingOptions(count))) == 1.0
    assert len({id(v) for v in made}) == 2
    assert float(trace_function(tracing_options=TracingOptions(count))()) == 1.0


def test_what_a_signature_fixes_is_held_to():
    fixed = compiled(lambda x, training=True: x, [tf.TensorSpec([], tf.float32)])
    assert float(fixed(2)) == 2.0
    with pytest.raises(ValueError, match="Can not cast False to"):
        fixed(2, training=False)
    with pytest.raises(TypeError, match="Can not cast"):
        fixed([1.0, 2.0])
    with pytest.raises(ValueError, match="does not support `experimental_1` as an attribute"):
        TracingOptions(attributes={"experimental_1": 1})


def test_a_function_sees_the_collections_around_it_and_keeps_its_own():
    with tf.Graph().as_default() as graph:
        graph.add_to_collection("x", 2)

        @tf.function
        def inside():
            tf.compat.v1.add_to_collection("x", 3)
            return tf.constant(tf.compat.v1.get_collection("x"))

        with tf.compat.v1.Session() as session:
            assert session.run(inside()).tolist() == [2, 3]
        assert graph.get_collection("x") == [2]


def test_an_executor_that_is_not_there_is_not_found():
    with pytest.raises(tf.errors.NotFoundError, match="NOWHERE"), tf.experimental.function_executor_type("NOWHERE"):
        pass


def test_concrete_functions_are_branches_of_a_case():
    branches = [tf.function(lambda k=k: tf.ones([2]) * k).get_concrete_function() for k in (1.0, 2.0)]

    @tf.function
    def choose(index):
        return tf.raw_ops.Case(branch_index=index, input=[], Tout=[tf.float32], branches=branches)

    assert [row.numpy().tolist() for row in choose(1)] == [[2.0, 2.0]]
    assert choose.get_concrete_function(tf.constant(0)).graph.as_graph_def().library.function


def test_a_spec_makes_its_stand_in():
    with tf.Graph().as_default() as graph:
        context = InternalPlaceholderContext(graph)
        assert tf.TensorSpec([1], name="test").placeholder_value(context).name == "test:0"
        assert tf.TensorSpec([1], name="a%!").placeholder_value(context).name == "Placeholder:0"
