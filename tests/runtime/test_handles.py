"""Values kept in a session: handles to fetch, feed, pass by name and delete."""

import gc

import numpy as np
import pytest

import ebbflow.ops.foundation  # noqa: F401  (operators)
from ebbflow.core import dtypes, errors
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.arrays.creation import constant
from ebbflow.runtime import handles
from ebbflow.runtime.session import Session

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def session():
    with Graph().as_default(), Session() as session:
        yield session


def kept_by(session):
    return len(session.resources.get(handles.STORE, ()))


def test_a_handle_stands_for_the_value(session):
    a, b = constant(10.0), constant(5.0)
    c = a * b
    d = c * c
    handle = session.run(handles.get_session_handle(c, name="kept"))
    assert isinstance(handle, handles.TensorHandle) and handle.dtype is dtypes.float32
    name, _, device = handle.handle.split(";")
    assert (name, device) == ("kept", HOST) and str(handle) == handle.handle
    assert handle.eval() == 50.0
    assert session.run(d, {c: handle}) == 2500.0
    assert session.run(d, {a: handle}) == 250.0**2


def test_in_a_structure_of_fetches(session):
    x = constant([1, 2])
    found = session.run({"handle": handles.get_session_handle(x), "value": x})
    assert found["handle"].eval().tolist() == found["value"].tolist() == [1, 2]


@pytest.mark.parametrize("value", [np.float32(1.5), np.arange(6).reshape(2, 3), np.array([b"a", b"bc"], object), b"s"])
def test_values(session, value):
    x = constant(value)
    handle = session.run(handles.get_session_handle(x))
    found = handle.eval()
    assert np.array_equal(found, value) and type(found) is type(value[()] if isinstance(value, np.generic) else value)
    holder, tensor = handles.get_session_tensor(handle.handle, x.dtype)
    assert np.array_equal(session.run(tensor, {holder: handle.handle}), value)


def test_by_name(session):
    handle = session.run(handles.get_session_handle(constant(5.0)))
    holder, x = handles.get_session_tensor(handle.handle, dtypes.float32)
    assert x.device == HOST and holder.dtype is dtypes.string
    y = x * 10.0
    assert session.run(y, {holder: handle.handle}) == session.run(y, {holder: handle}) == 50.0
    with pytest.raises(errors.InvalidArgumentError, match="You must feed a value for placeholder"):
        session.run(y)
    other_holder, other = handles.get_session_tensor(handle.handle, dtypes.int32)
    with pytest.raises(errors.InternalError, match="does not match declared output type int32"):
        session.run(other, {other_holder: handle.handle})


def test_the_value_of_the_run_is_kept(session):
    x = placeholder(dtypes.float32, [])
    fetch = handles.get_session_handle(x * 2.0)
    first, second = session.run(fetch, {x: 1.0}), session.run(fetch, {x: 2.0})
    assert (first.eval(), second.eval()) == (2.0, 4.0)


def test_a_value_goes_with_its_handle(session):
    fetch = handles.get_session_handle(constant([1.0, 2.0]))
    handle = session.run(fetch)
    assert kept_by(session) == 1
    del handle
    gc.collect()
    assert kept_by(session) == 0
    raw = session.run(fetch).get_raw_handle()
    gc.collect()
    assert kept_by(session) == 1, "who asks for the raw name keeps the value"
    holder, delete = handles.delete_session_tensor(raw)
    session.run(delete, {holder: raw})
    assert kept_by(session) == 0
    with pytest.raises(errors.InvalidArgumentError, match=f"Failed to delete a tensor with handle '{raw}'"):
        session.run(delete, {holder: raw})


def test_after_deletion(session):
    handle = session.run(handles.get_session_handle(constant(1.0)))
    holder, x = handles.get_session_tensor(handle.handle, dtypes.float32)
    handle.delete()
    for use in (handle.eval, handle.delete):
        with pytest.raises(TypeError, match="may have already been deleted"):
            use()
    with pytest.raises(errors.InvalidArgumentError, match=f"The tensor with handle '{handle.handle}' is not in the"):
        session.run(x, {holder: handle.handle})


def test_sessions_keep_their_own(session):
    handle = session.run(handles.get_session_handle(constant(1.0)))
    holder, x = handles.get_session_tensor(handle.handle, dtypes.float32)
    with Session() as other, pytest.raises(errors.InvalidArgumentError, match="is not in the session store"):
        other.run(x, {holder: handle.handle})


def test_refusals(session):
    with pytest.raises(TypeError, match="`data` must be of type Tensor"):
        handles.get_session_handle(5.0)


def test_eagerly_there_is_no_session():
    with pytest.raises(errors.FailedPreconditionError, match="needs a session"):
        handles.GetSessionHandle(1.0)


def test_what_was_fed_may_be_changed_afterwards(session):
    x = placeholder(dtypes.float32, [3])
    kept = handles.get_session_handle(x)
    for k in range(3):
        fed = np.full(3, k, "f")
        handle = session.run(kept, {x: fed})
        fed[:] = -1
        assert handle.eval().tolist() == [k, k, k]
