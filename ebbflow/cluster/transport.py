"""Streams between processes, by gRPC: how one is opened, served, and found lost.

One long-lived stream with raw bytes in both directions for each pair of processes; no protobuf, no message of more than
a few megabytes. Frozen peers are found by HTTP/2 pings, ports are not shared, connections are tried again quickly. Both
ends must speak the same version and show the same token. Knows links and gRPC, which is imported with the first server
or remote session; knows nothing of what is said.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.cluster import security, wire
from ebbflow.cluster.link import Link
from ebbflow.cluster.threads import threads
from ebbflow.core import errors
from ebbflow.platform import logging

SERVICE, METHOD = "ebbflow.v1.Task", "Stream"
LARGEST_MESSAGE = 4 << 20
LAST_PORT = 65535  # gRPC would take a larger one modulo 65536

_COMMON = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
    ("grpc.keepalive_time_ms", 2000),
    ("grpc.keepalive_timeout_ms", 1000),
    ("grpc.http2.ping_timeout_ms", 1000),  # without it a stopped peer was not found in 27 s, with it in 2.8
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)
_SERVER = (
    *_COMMON,
    ("grpc.so_reuseport", 0),  # or a second server on a port would share it
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 500),
    ("grpc.http2.max_ping_strikes", 0),
)
_CLIENT = (
    *_COMMON,
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
)


def library() -> Any:
    """Return gRPC."""
    try:
        os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # or it tells of every stream that ends
        import grpc  # heavy, and only for programs of several processes
    except ImportError:
        raise errors.FailedPreconditionError(
            None, None, "tasks of a cluster speak by gRPC, which is not installed: pip install 'ebbflow[grpc]'"
        ) from None
    return grpc


# --- serving ----------------------------------------------------------------------------------------------------------


def serve(address: str, accept: Callable[[Mapping[str, str]], Link], greeting: Mapping[str, str]) -> tuple[Any, int]:
    """Serve streams at an address; return gRPC's server, not started yet, and the port that it has.

    `accept` makes a link for a stream, from what the other end says of itself; `greeting` is what it is told.
    """
    grpc = library()
    server = grpc.server(threads, options=_SERVER)
    server.add_generic_rpc_handlers((_Streams(accept, greeting),))
    host = checked_address(address, "Could not parse port of the server")
    try:
        found = security.certificates()
        if found is None:
            bound = server.add_insecure_port(address)
        else:
            credentials = grpc.ssl_server_credentials(
                [(found.key, found.certificate)], root_certificates=found.authority, require_client_auth=True
            )
            bound = server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise errors.UnknownError(
            None,
            None,
            f"Could not start gRPC server at {address}: {str(error).partition(';')[0]}. Is the port taken by another "
            "process, or the host not one of this machine?",
        ) from None
    if not bound:
        raise errors.UnknownError(None, None, f"Could not start gRPC server: cannot bind {address}")
    if found is None and host not in ("localhost", "127.0.0.1", "[::1]"):
        logging.warning("the server at %s speaks in the clear: set EBBFLOW_TLS_CERT, _KEY and _CA", address)
    return server, bound


def checked_address(address: str, refused: str) -> str:
    """Return the host of an address; InvalidArgumentError, beginning in the words given, if it is none."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > LAST_PORT:
        raise errors.InvalidArgumentError(
            None, None, f"{refused} from {address!r}: it is host:port, the port a number up to {LAST_PORT}"
        )
    return host


class _Streams:
    """What gRPC asks for a handler of each stream: every one has its own, which knows the link of its messages."""

    def __init__(self, accept: Callable[[Mapping[str, str]], Link], greeting: Mapping[str, str]):
        self._accept = accept
        self._greeting = [("ebbflow-protocol", str(wire.PROTOCOL)), *greeting.items()]

    def service(self, details: Any) -> Any:
        """Return the handler of a stream that begins; None for what is no stream of ours."""
        if details.method != f"/{SERVICE}/{METHOD}":
            return None
        links: list[Link] = []  # messages are asked for when it is there

        def stream(requests: Any, context: Any) -> Any:
            known = {str(key): str(value) for key, value in context.invocation_metadata()}
            _refuse_strangers(known, context)
            context.send_initial_metadata(self._greeting)
            link = self._accept(known)
            links.append(link)
            context.add_callback(lambda: link.lose(errors.UnavailableError(None, None, "the other process is gone")))
            threads.submit(link.read, requests, _described)
            return link

        receive = lambda message: links[0].receive(message)
        return library().stream_stream_rpc_method_handler(stream, request_deserializer=receive)


def _refuse_strangers(known: Mapping[str, str], context: Any) -> None:
    grpc = library()
    if not security.same(known.get("ebbflow-token", ""), security.token()):
        why = f"the token of this process is not the server's: set the same {security.TOKEN} for all tasks of the job"
        context.abort(grpc.StatusCode.UNAUTHENTICATED, why)
    theirs = known.get("ebbflow-protocol")
    if theirs != str(wire.PROTOCOL):
        why = f"the client speaks version {theirs} of the protocol, the server version {wire.PROTOCOL}"
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, why)


# --- connecting -------------------------------------------------------------------------------------------------------


def connect(address: str, link: Link, about: Mapping[str, str], seconds: float) -> Mapping[str, str]:
    """Open a stream to a server within so many seconds, and return what it says of itself.

    Where there is none the link is lost: the thread that waits for what the link has to say ends, and the channel.
    """
    checked_address(address, "Could not parse the port of a task")
    try:
        return _connected(address, link, about, seconds)
    except errors.OpError as error:
        link.lose(error)
        raise


def _connected(address: str, link: Link, about: Mapping[str, str], seconds: float) -> Mapping[str, str]:
    grpc = library()
    found = security.certificates()
    if found is None:
        channel = grpc.insecure_channel(address, options=_CLIENT)
    else:
        credentials = grpc.ssl_channel_credentials(found.authority, found.key, found.certificate)
        channel = grpc.secure_channel(address, credentials, options=_CLIENT)
    link.when_lost.append(channel.close)
    metadata = [("ebbflow-protocol", str(wire.PROTOCOL)), ("ebbflow-token", security.token()), *about.items()]
    open_stream = channel.stream_stream(f"/{SERVICE}/{METHOD}", response_deserializer=link.receive)
    stream = open_stream(link, metadata=metadata, wait_for_ready=True)
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        stream.cancel()

    limit = threading.Timer(seconds, end)  # a channel that is asked whether it is ready would take 0.2 s to close
    limit.daemon = True
    limit.start()
    try:
        greeting = {str(key): str(value) for key, value in stream.initial_metadata()}
        if greeting.get("ebbflow-protocol") != str(wire.PROTOCOL):  # refused, or no server of ours
            next(stream)
            raise errors.UnavailableError(None, None, f"what answers at {address} is no Ebbflow server")
    except grpc.RpcError as error:
        if late:
            raise errors.UnavailableError(None, None, f"no server answers at {address}") from None
        raise _described(error) from None
    finally:
        limit.cancel()
    threads.submit(link.read, stream, _described)
    return greeting


def _described(error: Exception) -> errors.OpError:
    """Return an error of gRPC as one of ours."""
    code = getattr(error, "code", lambda: None)()
    details = getattr(error, "details", lambda: str(error))()
    if code is not None and code.value[0] in (
        errors.UNAUTHENTICATED, errors.FAILED_PRECONDITION, errors.RESOURCE_EXHAUSTED, errors.UNIMPLEMENTED,
    ):  # fmt: skip
        return errors.exception_type_from_error_code(code.value[0])(None, None, details)  # type: ignore[call-arg]
    return errors.UnavailableError(None, None, f"the connection to another task is lost: {details}")
