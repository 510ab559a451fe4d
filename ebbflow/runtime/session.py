"""Sessions: run parts of a graph.

`Session.run` finds (or makes) the runner for the fetches and feeds and runs it; the second time round that is two
dictionary look-ups. A session owns the values of its graph's variables and other resources. Runs may overlap in
threads: a runner keeps no state.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, errors, forks, source, stopping
from ebbflow.core.device import canonical_name
from ebbflow.core.typing import Message, Nested
from ebbflow.engines import devices
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.platform import config as platform_config
from ebbflow.runtime.executor import exclusive
from ebbflow.runtime.fetches import Fetch, expand_feeds, feed_array
from ebbflow.runtime.partial_run import PartialRun
from ebbflow.runtime.run_on_devices import runner_for
from ebbflow.runtime.step_stats import wants_trace, write_metadata

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


MAX_RUNNERS = 1000
"""A session keeps this many runners; the oldest go first."""


class BaseSession:
    """What Session and InteractiveSession share."""

    def __init__(self, target: Any = "", graph: Any = None, config: Any = None):
        if graph is None:
            graph = get_default_graph()
        elif not hasattr(graph, "get_operations"):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"')
        if target and not isinstance(target, (str, bytes)):
            raise TypeError(f'Argument `target` must be a string, but got "{type(target).__name__}"')
        if config is not None and not hasattr(config, "SerializeToString"):
            raise TypeError(f'Argument `config` must be a tf.ConfigProto, but got "{type(config).__name__}"')
        self._graph = graph
        self._target = target if isinstance(target, bytes) else target.encode()
        self._config = config
        self.cluster = _cluster(self._target.decode(), config)
        self.devices = devices.of_session(config) if self.cluster is None else self.cluster.devices
        self.soft_placement = (
            platform_config.get_soft_device_placement() if config is None else config.allow_soft_placement
        )
        if config is not None and config.intra_op_parallelism_threads > 0:
            platform_config.set_intra_op_parallelism_threads(config.intra_op_parallelism_threads)
        if config is not None and config.inter_op_parallelism_threads > 0:
            platform_config.set_inter_op_parallelism_threads(config.inter_op_parallelism_threads)
        self.exact = False  # whether its runs repeat those of another process bit for bit
        self._closed = False
        self._timeout = 0 if config is None else config.operation_timeout_in_ms
        self.stop = stopping.Stop(self)
        self._runners: dict[Any, tuple[Any, ...]] = {}
        self._lock = forks.lock()
        self._partial_runs: dict[str, PartialRun] = {}
        self._handles = 0
        self.resources: dict[Any, Any] = {}
        self.bodies: dict[Any, Any] = {}  # how the functions that nodes call are run here

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def graph_def(self) -> Any:
        return self._graph.as_graph_def()

    @property
    def limits_time(self) -> bool:
        """Whether every run has a deadline."""
        return bool(self._timeout)

    @property
    def sess_str(self) -> bytes:
        return self._target

    # --- running
    # --------------------------------------------------------------------------------------------------------

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what `fetches` needs and return the values, in the structure of `fetches` (None for operations)."""
        try:
            return self._run(fetches, feed_dict, options, run_metadata)
        except MemoryError as error:
            raise errors.ResourceExhaustedError(None, None, f"out of memory while running {fetches}: {error}") from None
        except Exception as error:
            raise source.short(error) from None

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        key = (_key(fetches), tuple(feed_dict) if feed_dict else ())
        found = None
        if key[0] is not None:
            try:
                found = self._runners.get(key)
            except TypeError:  # an unhashable feed key: the long way explains it
                key = (None, ())
        if found is None or found[3] != self._graph._mutations:
            found = self._prepare(fetches, feed_dict, key)
        fetch, runner, tensors, _ = found
        if feed_dict:
            if tensors is None:
                fed = [feed_array(t, v) for t, v in expand_feeds(self._graph, feed_dict)]
                fed = [array.copy() for array in fed] if runner.keeps_feeds else fed
            else:
                fed = [feed_array(t, v) for t, v in zip(tensors, feed_dict.values(), strict=True)]
        else:
            fed = []
        if options is None and run_metadata is None and not self._timeout:
            values, shared = runner.run(fed)
        else:
            values, shared = self._run_with(options, run_metadata, runner, fed)
        if self._closed:
            raise errors.CancelledError(None, None, "Run call was cancelled")
        for i in shared:
            values[i] = exclusive(values, i)
        return fetch.rebuild([v if v is None or v.ndim else v[()] for v in values])

    def _run_with(self, options: Any, run_metadata: Any, runner: Any, fed: list[Any]) -> tuple[Any, Any]:
        """Run a runner as its options say: traced, or for a limited time."""
        trace: list[Any] | None = [] if run_metadata is not None and wants_trace(options) else None
        timeout = (0 if options is None else options.timeout_in_ms) or self._timeout
        results = runner.run(fed, trace) if timeout <= 0 else self._run_in_time(timeout, runner, fed, trace)
        if run_metadata is not None:
            write_metadata(run_metadata, trace, runner, self._graph, options)
        return results

    def _run_in_time(self, timeout: int, runner: Any, fed: list[Any], trace: list[Any] | None) -> tuple[Any, Any]:
        """Run a runner; a run that took longer than that many milliseconds is an error, whatever it gave."""
        stop = stopping.Stop(self, timeout / 1000, self.stop)
        try:
            with stopping.heeding(stop):
                results = runner.run_stoppable(fed, trace)
            in_time = not stop.late
        except errors.CancelledError:
            if self._closed or not stop.late:
                raise
            in_time = False
        if not in_time:
            raise errors.DeadlineExceededError(
                None, None, f"Timed out waiting for notification: the run took longer than {timeout} ms"
            )
        return results

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _prepare(self, fetches: Any, feed_dict: Any, key: Any) -> tuple[Any, ...]:
        """Make the runner for these fetches and feeds, and keep it."""
        self._check_open()
        if not self._graph._nodes:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        if feed_dict is not None and not hasattr(feed_dict, "items"):
            raise TypeError(f"feed_dict must be a dictionary, got {feed_dict!r}")
        fetch = Fetch(self._graph, fetches)
        pairs = expand_feeds(self._graph, feed_dict) if feed_dict else []
        for tensor, value in pairs:
            if not self._graph.is_feedable(tensor):
                raise ValueError(f"Tensor {tensor.name} may not be fed.")
            feed_array(tensor, value)
        tensors = [t for t, _ in pairs]
        simple = len(pairs) == len(feed_dict or ()) and all(not isinstance(k, (tuple, list)) for k in feed_dict or ())
        runner = runner_for(self, fetch.elements, tensors)
        simple = simple and not runner.keeps_feeds
        found = (fetch, runner, tensors if simple else None, self._graph._mutations)
        if key[0] is not None:
            with self._lock:
                self._check_open()  # a closed session keeps no runner, so `run` need not ask
                while len(self._runners) >= MAX_RUNNERS:
                    self._runners.pop(next(iter(self._runners)))
                self._runners[key] = found
        return found

    def explain(self, fetches: Any, feeds: Any = ()) -> str:
        """Return the Programs that give `fetches` when `feeds` (a list, or a feed_dict) are fed, as readable source.

        Behind a line stands the user's line that asked for it. What has not run yet is shown for the placeholders'
        shapes.
        """
        key = (_key(fetches), tuple(feeds))
        found = self._runners.get(key) if key[0] is not None else None
        if found is not None and found[3] == self._graph._mutations:
            return found[1].explain()
        elements = [self._graph.as_graph_element(f, True, False) for f in feeds]
        return runner_for(self, Fetch(self._graph, fetches).elements, elements).explain()

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """Return a function of the values for `feed_list` that runs `fetches`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}")
        elements = [self._graph.as_graph_element(f, allow_tensor=True, allow_operation=False) for f in feed_list or ()]

        def call(*values: Any, **kwargs: Any) -> Any:
            if len(values) != len(elements):
                raise ValueError(f"this callable takes {len(elements)} feeds, got {len(values)}")
            if self._closed:
                raise errors.CancelledError(None, None, "Session has been closed.")
            options = kwargs if accept_options else {}
            return self.run(fetches, dict(zip(elements, values, strict=True)), **options)

        return call

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        """Return a function that feeds, fetches and runs what a CallableOptions message names.

        A tensor that is connected to another is run first, and then fed as both.
        """
        feeds = [self._graph.as_graph_element(name, True, False) for name in callable_options.feed]
        fetches = [self._graph.as_graph_element(name, True, False) for name in callable_options.fetch]
        targets = [self._graph.as_graph_element(name, False, True) for name in callable_options.target]
        wires = [
            (self._graph.as_graph_element(wire.from_tensor), self._graph.as_graph_element(wire.to_tensor))
            for wire in callable_options.tensor_connection
        ]
        options = callable_options.run_options if callable_options.HasField("run_options") else None

        def call(*values: Any, run_metadata: Any = None) -> list[Any]:
            if len(values) != len(feeds):
                raise ValueError(f"this callable takes {len(feeds)} feeds, got {len(values)}")
            fed = dict(zip(feeds, values, strict=True))
            if wires:
                for (source, end), value in zip(wires, self.run([source for source, _ in wires], fed), strict=True):
                    fed[source] = fed[end] = value
            return self.run([fetches, targets], fed, options, run_metadata)[0]

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Prepare a run whose feeds come and fetches go in several calls of `partial_run`."""
        self._check_open()
        fetch = Fetch(self._graph, fetches)
        if not fetch.elements:
            raise errors.InvalidArgumentError(
                None, None, "Must specify at least one target to fetch or execute. partial_run_setup got none"
            )
        feed_tensors = [self._graph.as_graph_element(f, True, False) for f in feeds or ()]
        with self._lock:
            self._handles += 1
            handle = f"partial_run_{self._handles}"
        self._partial_runs[handle] = PartialRun(self, fetch.elements, feed_tensors)
        return handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Go on with a partial run: give more feeds, get more fetches."""
        self._check_open()
        run = self._partial_runs.get(handle)
        if run is None:
            raise errors.InvalidArgumentError(
                None, None, f"Must run 'setup' before performing partial runs! There is no handle {handle!r}"
            )
        fetch = Fetch(self._graph, fetches)
        pairs = expand_feeds(self._graph, feed_dict or {})
        fed = [(t, feed_array(t, v).copy()) for t, v in pairs]  # later calls look at it too
        values = run.go_on(fetch.elements, fed)
        if run.finished:
            self._partial_runs.pop(handle, None)
        return fetch.rebuild([None if v is None else _hand_out(v.copy()) for v in values])

    # --- life ---------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Free what the session holds; it cannot be used any more, and what still runs is cancelled."""
        with self._lock:
            self._closed = True
            self._runners.clear()
        self.stop.cancel()
        self.bodies.clear()
        self._partial_runs.clear()
        self.resources = {}
        if self.cluster is not None:
            self.cluster.close()

    def as_default(self) -> DefaultSession:
        """Make this the session that `eval()` and `run()` use inside the block."""
        return DefaultSession(self)

    def list_devices(self) -> list[Any]:
        """Return the devices this session can use."""
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")
        return [DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation) for d in self.devices]


class Session(BaseSession):
    """Runs a graph. `with Session() as sess:` makes it, and its graph, the default inside and closes it after.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.compat.v1.placeholder(tf.float32, [2])
    ...     session.run(x * 2.0, {x: [1.0, 2.0]}).tolist()
    [2.0, 4.0]
    """

    def __init__(self, target: Nested = "", graph: Graph | None = None, config: Message | None = None):
        super().__init__(target, graph, config)
        self._entered: list[Any] = []

    def __enter__(self) -> Session:
        if self._entered:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if desired.")
        graph_scope, session_scope = self._graph.as_default(), self.as_default()
        graph_scope.__enter__()
        session_scope.__enter__()
        self._entered.append((graph_scope, session_scope))
        return self

    def __exit__(self, *exc: Any) -> None:
        graph_scope, session_scope = self._entered.pop()
        session_scope.__exit__(*exc)
        graph_scope.__exit__(*exc)
        self.close()

    @staticmethod
    def reset(target: str, containers: Sequence[str] | None = None, config: Message | None = None) -> None:
        """Have the servers of a cluster forget what is in their containers (or in those named), and end its sessions.

        What a session of this process holds is its own, and goes when the session is closed.
        """
        if _is_remote(target):
            _remote().reset(target, [str(name) for name in containers or ()], config)


class InteractiveSession(BaseSession):
    """A session that is the default from the moment it is made until it is closed."""

    def __init__(self, target: Nested = "", graph: Graph | None = None, config: Message | None = None):
        super().__init__(target, graph, config)
        self._explicit_graph = graph
        self._session_scope = self.as_default()
        self._session_scope.__enter__()
        self._graph_scope: Any = None
        if graph is not None:
            self._graph_scope = graph.as_default()
            self._graph_scope.__enter__()

    def close(self) -> None:
        """Close the session and stop it being the default."""
        if self._closed:
            return
        super().close()
        if self._graph_scope is not None:
            self._graph_scope.__exit__(None, None, None)
        stack = context.thread.sessions
        if self in stack:
            stack.remove(self)

    def __del__(self) -> None:
        self._closed = True


class DefaultSession:
    """`with sess.as_default():` the session that `eval()` finds."""

    def __init__(self, session: BaseSession):
        self._session = session

    def __enter__(self) -> BaseSession:
        context.thread.sessions.append(self._session)
        return self._session

    def __exit__(self, *exc: Any) -> None:
        stack = context.thread.sessions
        if stack and stack[-1] is self._session:
            stack.pop()
        elif self._session in stack:
            stack.remove(self._session)


class DeviceAttributes:
    """A device of a session: name, type, memory limit, incarnation."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int):
        self.name, self.device_type = canonical_name(name), device_type
        self.memory_limit_bytes, self.incarnation = memory_limit_bytes, incarnation

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


# --- sessions of a cluster --------------------------------------------------------------------------------------------

REMOTE = "grpc://"


def _is_remote(target: str) -> bool:
    """Return whether a session is one of a cluster; NotFoundError if it is nobody's."""
    if not target or target == "local":
        return False
    if target.startswith(REMOTE):
        return True
    raise errors.NotFoundError(
        None,
        None,
        f'No session factory registered for the given session options: {{target: "{target}"}}: it is this process '
        f"('') or a server ('{REMOTE}host:port')",
    )


def _cluster(target: str, config: Any) -> Any:
    return _remote().Cluster(target, config) if _is_remote(target) else None


def _remote() -> Any:
    return importlib.import_module("ebbflow.cluster.remote")  # a higher room, for the few who have other processes


def get_default_session() -> Session | None:
    """Return the innermost default session of this thread, or None."""
    stack = context.thread.sessions
    return stack[-1] if stack else None


def _key(fetches: Any) -> Any:
    """Return a hashable stand-in for a simple fetch, or None where only the long way will do."""
    kind = fetches.__class__
    if kind is SymbolicTensor or kind is Operation:
        return id(fetches)
    if kind is str:
        return fetches
    if kind is list or kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):  # states of cells
        parts = []
        for item in fetches:
            part = _key(item)
            if part is None:
                return None
            parts.append(part)
        return (kind, *parts)
    if kind is dict:
        values = _key(list(fetches.values()))
        return None if values is None else (dict, *fetches, *values)
    if getattr(kind, "_stable_fetch", False):  # a variable: its tensor lives as long as the graph
        return _key(fetches._as_graph_element())
    return None


def _hand_out(value: Any) -> Any:
    """Return a value as a user sees it: scalars as NumPy scalars (bytes for strings), arrays as arrays."""
    return value if value.ndim else value[()]
