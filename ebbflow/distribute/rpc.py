"""`tf.distribute.experimental.rpc`: functions that another process calls by name.

A server is given traced functions, and runs them for whoever calls, each call in a thread; a client asks which there
are, and has a method for each. Calls do not wait: what they return does, when it is asked how it went. What travels is
what travels between the tasks of a cluster, with the same token, certificates and limits. Knows links and functions.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.cluster.link import Link
from ebbflow.cluster.methods import Answer, Methods, Peer
from ebbflow.cluster.threads import threads
from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Nested
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.io.structures import can_encode, decode_proto, encode_structure

# --- serving ----------------------------------------------------------------------------------------------------------


class Server:
    """Runs functions for other processes."""

    def __init__(self, address: str):
        _only_eagerly("create the server")
        self._address = address
        self._known: dict[str, ConcreteFunction] = {}
        served = {"methods": partial(_listed, self._known), "call": partial(_called, self._known)}  # not of `self`,
        self._methods = Methods(served, "runs functions by name")  # which is to end where nobody else has it

    @staticmethod
    def create(rpc_layer: str, address: str) -> Server:
        """Return a server for an address, which serves once it is started."""
        if rpc_layer != "grpc":
            raise ValueError(f"rpc_layer = {rpc_layer!r}: Only GRPC backend is supported at the moment.")
        return Server(address)

    def register(self, method_name: str, func: Any) -> None:
        """Have a function, with an input signature, called by a name."""
        if self._methods.begun:
            raise errors.FailedPreconditionError(
                None, None, "All methods must be registered before starting the server, which is not so with "
                f"{method_name!r}",
            )  # fmt: skip
        if not isinstance(func, ConcreteFunction):
            if not hasattr(func, "get_concrete_function"):
                raise ValueError(f"Only TF functions are supported with Register method, got {func!r}")
            if func.input_signature is None:
                raise ValueError(f"Input signature not specified for the function {method_name!r}.")
            func = func.get_concrete_function()
        self._known[method_name] = func

    def start(self) -> None:
        """Serve from now on."""
        if self._methods.begun:
            raise errors.FailedPreconditionError(None, None, f"the server at {self._address} has been started")
        self._methods.serve(self._address)

    def __del__(self) -> None:
        if hasattr(self, "_methods"):
            self._methods.stop()


def _listed(known: Mapping[str, ConcreteFunction], link: Link, arrays: Any) -> Answer:
    return {name: [_written(f.structured_input_signature[0]), _written(_specs(f.structured_outputs))]
            for name, f in known.items()}, ()  # fmt: skip


def _called(known: Mapping[str, ConcreteFunction], link: Link, arrays: Sequence[np.ndarray], name: str) -> Answer:
    try:
        return None, _outputs(known, name, arrays)
    except (errors.OpError, MemoryError):
        raise
    except Exception as error:
        raise errors.InvalidArgumentError(None, None, f"{type(error).__name__}: {error}") from None


def _outputs(known: Mapping[str, ConcreteFunction], method: str, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return what a function gives for arrays that came from elsewhere."""
    function = known.get(method)
    if function is None:
        raise errors.InvalidArgumentError(
            None, None, f"{method!r} is not registered at the server; there are {sorted(known)}"
        )
    signature = function.structured_input_signature[0]
    specs = nest.flatten(signature)
    if len(arrays) != len(specs):
        raise errors.InvalidArgumentError(None, None, f"{method!r} takes {len(specs)} tensors, got {len(arrays)}")
    for i, (array, spec) in enumerate(zip(arrays, specs, strict=True)):
        fits = spec.dtype.np == array.dtype and spec.shape.is_compatible_with(array.shape)
        if not fits:
            raise errors.InvalidArgumentError(
                None, None, f"{method!r}: tensor {i} is {array.dtype}{list(array.shape)}, the function takes {spec}"
            )
    tensors = [EagerTensor(a, s.dtype) for a, s in zip(arrays, specs, strict=True)]
    outputs = function(*nest.pack_sequence_as(signature, tensors))
    return [np.asarray(t._array) for t in nest.flatten(outputs) if isinstance(t, EagerTensor)]


# --- calling ----------------------------------------------------------------------------------------------------------


class Client:
    """Calls functions of a server: `client.call("name", [a, b])`, or `client.name(a, b)`."""

    def __init__(self, address: str, name: str = "", list_registered_methods: bool = False, timeout_in_ms: int = 0):
        _only_eagerly("create the client")
        self._address, self._timeout = address, timeout_in_ms
        self._peer = Peer(address)
        weakref.finalize(self, self._peer.close).atexit = False
        if list_registered_methods:
            listed, _ = self._asked("methods", [], timeout_in_ms)
            for method, (inputs, outputs) in listed.items():
                self._add_method(method, _read(inputs), _read(outputs))

    @staticmethod
    def create(rpc_layer: str, address: str, name: str = "", timeout_in_ms: int = 0) -> Client:
        """Return a client of the server at an address, with a method for each function it has."""
        if rpc_layer != "grpc":
            raise ValueError(f"rpc_layer = {rpc_layer!r}: Only GRPC backend is supported at the moment.")
        return Client(address, name, list_registered_methods=True, timeout_in_ms=timeout_in_ms)

    def call(
        self, method_name: str, args: Sequence[Any] | None = None, output_specs: Any = None, timeout_in_ms: int = 0
    ) -> StatusOrResult:
        """Call a function with flat arguments; its results come in the structure of `output_specs`, or as a list."""
        _only_eagerly(f"call {method_name!r}")
        arrays = [np.asarray(convert(arg)._array) for arg in nest.flatten(list(args or ()))]
        limit = timeout_in_ms or self._timeout
        return StatusOrResult(threads.submit(self._asked, "call", arrays, limit, name=method_name), output_specs)

    def _add_method(self, method: str, inputs: Any, outputs: Any) -> None:
        def call(*args: Any, timeout_in_ms: int = 0) -> StatusOrResult:
            nest.assert_same_structure(args, inputs)
            specs = nest.flatten(inputs)
            flat = [convert(arg, spec.dtype) for arg, spec in zip(nest.flatten(args), specs, strict=True)]
            return self.call(method, flat, outputs, timeout_in_ms)

        def blocking(*args: Any, timeout_in_ms: int = 0) -> Nested:
            return call(*args, timeout_in_ms=timeout_in_ms).get_value()

        call.__doc__ = blocking.__doc__ = f"RPC Call for {method} method to server {self._address}"
        setattr(self, method, call)
        setattr(self, f"{method}_blocking", blocking)

    def _asked(self, kind: str, arrays: Sequence[np.ndarray], timeout_in_ms: int, **said: Any) -> tuple[Any, list[Any]]:
        """Return what a server answers, and the arrays that it sends; wait for one as long as there is time."""
        seconds = timeout_in_ms / 1000 if timeout_in_ms else None
        begun = time.monotonic()
        try:
            self._peer.reach(seconds)
        except errors.UnavailableError as error:
            raise errors.DeadlineExceededError(None, None, error.message) from None
        left = None if seconds is None else max(begun + seconds - time.monotonic(), 0.0)
        what = f"{said.get('name', kind)} at {self._address}"
        return self._peer.ask(kind, arrays, within=left, what=what, **said)


class StatusOrResult:
    """How a call went: its value, or its error. Whoever asks waits for the end of the call."""

    def __init__(self, future: Future[Any], output_specs: Any = None):
        self._future, self._specs = future, output_specs

    def _ended(self) -> tuple[int, str]:
        error = self._future.exception()
        if error is None:
            return 0, ""
        return getattr(error, "error_code", errors.UNKNOWN), getattr(error, "message", str(error))

    def is_ok(self) -> Tensor:
        """Return whether the call has a value."""
        return convert(self._ended()[0] == 0)

    def get_error(self) -> tuple[Tensor, Tensor]:
        """Return the code and the message of the error; code 0 is none."""
        code, message = self._ended()
        return convert(code, dtypes.int64), convert(message)

    def get_value(self) -> Nested:
        """Return the value; raise the error if there is one."""
        _, arrays = self._future.result()
        values = [EagerTensor(array, dtypes.as_dtype(array.dtype) if array.dtype != object else dtypes.string)
                  for array in arrays]  # fmt: skip
        return values if self._specs is None else nest.pack_sequence_as(self._specs, values)


def _only_eagerly(what: str) -> None:
    if context.current_graph() is not None:
        raise NotImplementedError(f"Please {what} outside tf.function; in one, by way of tf.py_function")


# --- structures -------------------------------------------------------------------------------------------------------


def _specs(structure: Any) -> Any:
    if structure is None:
        return None
    return nest.map_structure(lambda t: t if isinstance(t, TensorSpec) else TensorSpec(t.shape, t.dtype), structure)


def _written(structure: Any) -> str:
    """Return a structure of specs as text."""
    if not can_encode(structure):
        raise errors.UnimplementedError(
            None, None, f"a function that takes or gives {structure!r} cannot be called by name: use tensors in lists, "
            "tuples and dictionaries",
        )  # fmt: skip
    return encode_structure(structure).SerializeToString().hex()


def _read(written: str) -> Any:
    return decode_proto(messages.StructuredValue.FromString(bytes.fromhex(written)))
