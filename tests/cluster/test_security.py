"""Certificates of both ends: who has them is served, who has none or others is refused, and the server goes on.

The files in tls/ were made with openssl for these tests and protect nothing: an authority, a task's certificate for
localhost, the same but expired, and one of another authority.
"""

from __future__ import annotations

import pathlib

import pytest

import ebbflow as tf
from ebbflow.cluster import wire

TLS = pathlib.Path(__file__).parent / "tls"
tf1 = tf.compat.v1


def files(name, authority="authority"):
    return {
        "EBBFLOW_TLS_CERT": str(TLS / f"{name}.pem"),
        "EBBFLOW_TLS_KEY": str(TLS / f"{name}.key"),
        "EBBFLOW_TLS_CA": str(TLS / f"{authority}.pem"),
    }


@pytest.fixture
def address(processes, ports, monkeypatch):
    """A server of another process that shows its certificate and wants to see one."""
    monkeypatch.setenv("EBBFLOW_CLUSTER_TOKEN", "token of the tests")
    (port,) = ports(1)
    processes.serve({"ps": [f"localhost:{port}"]}, "ps", **files("task"))
    return f"grpc://localhost:{port}"


def doubled(address, milliseconds=20000):
    config = tf1.ConfigProto(operation_timeout_in_ms=milliseconds)
    with tf1.Graph().as_default():
        twice = tf1.constant([1.0, 2.0]) * 2
        with tf1.Session(address, config=config) as session:
            return session.run(twice).tolist()


def test_with_certificates_of_the_same_authority(address, monkeypatch):
    for name, value in files("task").items():
        monkeypatch.setenv(name, value)
    assert doubled(address) == [2.0, 4.0]


@pytest.mark.parametrize(
    "client", [{}, files("expired"), files("stranger"), files("stranger", "other")],
    ids=["in the clear", "expired", "of another authority", "trusting another authority"],
)  # fmt: skip
def test_who_shows_no_good_certificate_is_refused(address, monkeypatch, client):
    with monkeypatch.context() as other:
        for name, value in client.items():
            other.setenv(name, value)
        with pytest.raises(tf.errors.OpError) as caught:
            doubled(address, 1500)
        assert isinstance(caught.value, (tf.errors.UnavailableError, tf.errors.DeadlineExceededError))
    for name, value in files("task").items():
        monkeypatch.setenv(name, value)
    assert doubled(address) == [2.0, 4.0]  # unharmed


def test_certificates_are_named_all_or_none(monkeypatch):
    monkeypatch.setenv("EBBFLOW_TLS_CERT", str(TLS / "task.pem"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="EBBFLOW_TLS_KEY is not set"):
        tf1.train.Server.create_local_server()
    for name, value in files("nobody").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(tf.errors.NotFoundError, match="a file of TLS cannot be read"):
        tf1.train.Server.create_local_server()


def test_f17_other_versions_are_told_which_they_are(processes, ports, monkeypatch):
    monkeypatch.setenv("EBBFLOW_CLUSTER_TOKEN", "token of the tests")
    (port,) = ports(1)
    processes.serve({"ps": [f"localhost:{port}"]}, "ps")
    with monkeypatch.context() as newer:
        newer.setattr(wire, "PROTOCOL", wire.PROTOCOL + 1)
        words = f"the client speaks version {wire.PROTOCOL} of the protocol, the server version {wire.PROTOCOL - 1}"
        with pytest.raises(tf.errors.FailedPreconditionError, match=words):
            doubled(f"grpc://localhost:{port}")
    assert doubled(f"grpc://localhost:{port}") == [2.0, 4.0]
