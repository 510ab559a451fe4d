"""Functions called by name in another process, and in this one."""

from __future__ import annotations

import collections
import gc
import subprocess
import sys
import threading

import pytest

import ebbflow as tf
from ebbflow.cluster.ports import free_ports

rpc = tf.distribute.experimental.rpc
INT = tf.TensorSpec([], tf.int32)
Ends = collections.namedtuple("Ends", "first last")


@pytest.fixture(scope="module")
def address():
    (port,) = free_ports(1)
    total = tf.Variable(0)

    @tf.function(input_signature=[INT])
    def count(n):
        total.assign_add(n)

    methods = {
        "multiply": tf.function(lambda a, b: a * b, input_signature=[INT, INT]),
        "nested": tf.function(lambda v: {"test": (v, [v, v + 1]), "one": (v,)}, input_signature=[INT]),
        "ends": tf.function(lambda v: Ends(v - 1, last=v + 1), input_signature=[INT]),
        "of_dict": tf.function(lambda d: d["a"] - d["b"], input_signature=[{"a": INT, "b": INT}]),
        "text": tf.function(lambda s: tf.strings.upper(s), input_signature=[tf.TensorSpec([None], tf.string)]),
        "count": count,
        "total": tf.function(lambda: total.read_value(), input_signature=[]),
        "invert": tf.function(lambda a: tf.linalg.inv(a), input_signature=[tf.TensorSpec([None, None], tf.float32)]),
        "slow": tf.function(lambda: tf.py_function(lambda: threading.Event().wait(0.5), [], tf.bool),
                            input_signature=[]),
    }  # fmt: skip
    server = rpc.Server.create("grpc", f"localhost:{port}")
    for name, function in methods.items():
        server.register(name, function.get_concrete_function() if name == "multiply" else function)
    server.start()
    yield f"localhost:{port}"
    del server
    gc.collect()


def test_a_function_is_called_by_name(address):
    client = rpc.Client.create("grpc", address)
    result = client.call("multiply", [tf.Variable(2), 3], output_specs=INT)
    assert bool(result.is_ok()) and int(result.get_value()) == 6
    assert int(result.get_error()[0]) == 0
    (value,) = client.call("multiply", [4, 5]).get_value()
    assert int(value) == 20
    assert int(client.multiply(6, 7).get_value()) == 42
    assert int(client.multiply_blocking(2, 2)) == 4
    assert client.multiply.__doc__ == f"RPC Call for multiply method to server {address}"


def test_structures_go_both_ways(address):
    client = rpc.Client.create("grpc", address, name="other")
    value = client.nested(tf.constant(2)).get_value()
    assert tf.nest.map_structure(int, value) == {"test": (2, [2, 3]), "one": (2,)}
    assert int(client.of_dict_blocking({"a": 5, "b": 3})) == 2
    with pytest.raises((TypeError, ValueError)):
        client.of_dict([5, 3])
    assert client.text_blocking(tf.constant(["a", "bc"])).numpy().tolist() == [b"A", b"BC"]
    ends = client.ends_blocking(5)
    assert (int(ends.first), int(ends.last)) == (4, 6)


def test_a_function_of_variables_changes_them(address):
    client = rpc.Client.create("grpc", address)
    results = [client.count(i) for i in range(5)]
    assert all(bool(r.is_ok()) for r in results)
    assert int(client.total_blocking()) == 10


def test_errors_are_told(address):
    client = rpc.Client.create("grpc", address)
    for method, args, words in (
        ("nothing", [], "'nothing' is not registered"),
        ("multiply", [1], "takes 2 tensors, got 1"),
        ("multiply", [1.0, 2.0], "tensor 0 is float32"),
    ):
        result = client.call(method, args)
        code, message = result.get_error()
        assert not result.is_ok() and int(code) == tf.errors.INVALID_ARGUMENT
        assert words in message.numpy().decode()
    with pytest.raises(tf.errors.InvalidArgumentError):
        client.invert_blocking(tf.zeros([2, 2]))
    assert int(client.multiply_blocking(1, 1)) == 1  # the server is unharmed


def test_a_call_that_takes_too_long_is_given_up(address):
    client = rpc.Client.create("grpc", address)
    result = client.slow(timeout_in_ms=50)
    assert int(result.get_error()[0]) == tf.errors.DEADLINE_EXCEEDED
    assert bool(client.slow().is_ok())


def test_a_client_waits_for_its_server():
    (port,) = free_ports(1)
    address = f"localhost:{port}"
    with pytest.raises(tf.errors.DeadlineExceededError):
        rpc.Client.create("grpc", address, timeout_in_ms=100)
    server = rpc.Server.create("grpc", address)
    server.register("one", tf.function(lambda: 1, input_signature=[]))
    starting = threading.Timer(0.3, server.start)
    starting.start()
    assert int(rpc.Client.create("grpc", address, timeout_in_ms=20000).one_blocking()) == 1
    starting.join()
    with pytest.raises(tf.errors.FailedPreconditionError, match="All methods must be registered before starting"):
        server.register("two", tf.function(lambda: 2, input_signature=[]))


def test_what_cannot_be_served_is_refused():
    server = rpc.Server.create("grpc", "localhost:0")
    with pytest.raises(ValueError, match="Input signature not specified"):
        server.register("f", tf.function(lambda a: a))
    with pytest.raises(ValueError, match="Only TF functions"):
        server.register("f", lambda a: a)
    for kind in (rpc.Server, rpc.Client):
        with pytest.raises(ValueError, match="Only GRPC"):
            kind.create("http", "localhost:0")


def test_another_process_calls(address):
    program = (
        "import ebbflow as tf, sys\n"
        "client = tf.distribute.experimental.rpc.Client.create('grpc', sys.argv[1], timeout_in_ms=30000)\n"
        "print(int(client.multiply_blocking(6, 9)))"
    )
    done = subprocess.run([sys.executable, "-c", program, address], capture_output=True, text=True, timeout=120)
    assert done.stdout == "54\n", done.stderr
