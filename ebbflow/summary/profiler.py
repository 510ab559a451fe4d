"""`tf.profiler.experimental`: spans of a program's work, written where TensorBoard looks for them.

While a profile is taken, each `Trace` is a span with its name, thread and time; stopping writes them as a Chrome trace,
and as the planes and lines that TensorBoard's tools read, into `<logdir>/plugins/profile/<time>/`. Knows nothing of
what runs inside a span.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
import time
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.platform import files, logging

_lock = threading.Lock()
_running: list[_Profile] = []


class _Profile:
    def __init__(self, logdir: str) -> None:
        self.logdir = logdir
        self.began = time.perf_counter()
        self.spans: list[dict[str, Any]] = []

    def result(self) -> bytes:
        """Return the spans as a file has them."""
        return gzip.compress(json.dumps({"displayTimeUnit": "ns", "traceEvents": self.spans}).encode())


class ProfilerOptions:
    """What a profile is to look at; here it looks at spans only."""

    def __init__(
        self, host_tracer_level: int = 2, python_tracer_level: int = 0, device_tracer_level: int = 1,
        delay_ms: int | None = None,
    ) -> None:  # fmt: skip
        self.host_tracer_level, self.python_tracer_level = host_tracer_level, python_tracer_level
        self.device_tracer_level, self.delay_ms = device_tracer_level, delay_ms


def start(logdir: str, options: object = None) -> None:
    """Begin a profile, to be written below `logdir`."""
    with _lock:
        if _running:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        _running.append(_Profile(os.fspath(logdir)))


def stop(save: bool = True) -> None:
    """End the profile, and write it unless it is not wanted."""
    profile = _ended(errors.UnavailableError(None, None, "Cannot export profiling results. No profiler is running."))
    if save:
        save_result(profile.logdir, profile.result())


def _ended(none_runs: Exception) -> _Profile:
    with _lock:
        if not _running:
            raise none_runs
        return _running.pop()


def save_result(logdir: str, result: bytes) -> None:
    """Write what a profile has found below `logdir`, where TensorBoard looks for it."""
    folder = files.join(logdir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    files.makedirs(folder)
    host = socket.gethostname()
    planes = _planes(json.loads(gzip.decompress(result))["traceEvents"], host)
    for ending, content in (("trace.json.gz", result), ("xplane.pb", planes)):
        with files.GFile(files.join(folder, f"{host}.{ending}"), "wb") as stream:
            stream.write(content)
    logging.debug("wrote a profile to %s", folder)


def _planes(spans: list[dict[str, Any]], host: str) -> bytes:
    """Return spans as an XSpace: one plane of the host, a line for each thread, names and arguments by number."""
    space = messages.message("tensorflow.profiler.XSpace")(hostnames=[host])
    plane = space.planes.add(name="/host:CPU")
    names: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for thread in dict.fromkeys(span["tid"] for span in spans):
        line = plane.lines.add(id=thread & 0x7FFFFFFF, name="python")
        for span in (s for s in spans if s["tid"] == thread):
            event = line.events.add(
                metadata_id=names.setdefault(span["name"], len(names) + 1),
                offset_ps=max(0, int(span["ts"] * 1e6)),
                duration_ps=int(span["dur"] * 1e6),
            )
            for key, value in span["args"].items():
                event.stats.add(metadata_id=kinds.setdefault(key, len(kinds) + 1), str_value=value)
    for found, numbered in ((names, plane.event_metadata), (kinds, plane.stat_metadata)):
        for name, number in found.items():
            numbered[number].id, numbered[number].name = number, name
    return messages.serialize(space)


class Profile:
    """`with Profile(logdir):` takes a profile of the block."""

    def __init__(self, logdir: str, options: object = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *exc: Any) -> None:
        stop()


class Trace:
    """`with Trace("train", step_num=3):` is a span of the profile being taken, if any."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name, self._arguments, self._began = name, kwargs, 0.0

    def __enter__(self) -> Trace:
        self._began = time.perf_counter()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Add to what the span says of itself."""
        self._arguments.update(kwargs)

    def __exit__(self, *exc: Any) -> None:
        if _running:
            profile, ended = _running[0], time.perf_counter()
            profile.spans.append({
                "ph": "X", "name": self._name, "pid": os.getpid(), "tid": threading.get_ident(),
                "ts": (self._began - profile.began) * 1e6, "dur": (ended - self._began) * 1e6,
                "args": {key: str(value) for key, value in self._arguments.items()},
            })  # fmt: skip


# --- as 1.15 had it, where who stops a profile is given what it found -------------------------------------------------


class ProfilerAlreadyRunningError(Exception):
    """A profile is being taken already."""


class ProfilerNotRunningError(Exception):
    """No profile is being taken."""


def start_v1() -> None:
    """Begin a profile that `stop_v1` gives back."""
    try:
        start("")
    except errors.AlreadyExistsError as error:
        raise ProfilerAlreadyRunningError("Another profiler is running.") from error


def stop_v1() -> bytes:
    """End the profile; return what it found, for `save_result`."""
    return _ended(ProfilerNotRunningError("Cannot stop profiling. No profiler is running.")).result()


class Profiler:
    """`with Profiler(logdir):` takes a profile of the block."""

    def __init__(self, logdir: str) -> None:
        self._logdir = logdir

    def __enter__(self) -> None:
        start_v1()

    def __exit__(self, *exc: Any) -> None:
        save_result(self._logdir, stop_v1())
