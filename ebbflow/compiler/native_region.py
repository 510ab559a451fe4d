"""Running a region: by NumPy at first, by machine code when that is made.

Making it takes a tenth of a second, in the background, and begins when the region has run a few times. What has become
of it is then called straight from the Program. A region that changes variables takes their arrays for the time it runs.
Where the code refuses what it is given (an array with gaps, a label that is no class), NumPy computes, and complains.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Value, is_state
from ebbflow.compiler.options import from_the_first_run
from ebbflow.compiler.program import Program
from ebbflow.core import forks, memory, stopping
from ebbflow.engines.background import Worker
from ebbflow.engines.native import kernel as kernels
from ebbflow.engines.native import resident
from ebbflow.engines.native.kernel import Kernel
from ebbflow.ops.state.storage import Storage

PATIENCE = 12
"""Runs by NumPy before code is made: most graphs of a script or a test run a few times only."""

LARGE = 1 << 16
"""Elements of an array for whose sake code is made at once."""


def _all_made() -> None:
    """Let go of what LLVM took: of a Transformer's step 353 MB are left 180, behind 20 ms of this thread."""
    resident.let_go_of_code()
    memory.give_back()


_worker = Worker("ebbflow-native-compiler", when_done=_all_made)
settle, in_background = _worker.settle, _worker.add
_lock = forks.lock()


class Native:
    """A region as a function of the arrays that go in and those that are to be filled."""

    def __init__(
        self,
        region: Flow,
        storages: list[Storage | None],
        bind: Callable[[Node], Callable[..., Any]],
        session: Any = None,
        patience: int = PATIENCE,
    ):
        self.region = region
        self._session = session if hasattr(session, "stop") else None  # whose end a long loop has to heed
        self.takes = [i for i, s in enumerate(storages) if s is None]
        self._storages = storages
        for value, storage in zip(region.inputs, storages, strict=True):
            value.storage = storage
        self._locked = sorted({s for s in storages if s is not None}, key=id)
        self._host = Program(region, bind)
        self._boxes = [None if s is None else s.handle() for s in storages]
        self._runs = 0
        large = any(v.size >= LARGE for node in region.nodes for v in node.outputs if v.is_static)
        self._patience = 1 if large else patience
        self._wanted: list[Callable[[Any], None]] = []
        self.kernel: Any = None
        self.refusal: str | None = None
        if from_the_first_run(session):
            self.compile()

    def __call__(self, *arrays: Any) -> bool:
        """Fill the arrays behind the inputs."""
        if self.kernel is not None and self._by_code(arrays):
            return True
        self.by_numpy(*arrays)
        if self._runs < self._patience:
            self._runs += 1
            if self._runs >= self._patience:
                _worker.add(self.compile)
        return True

    def _by_code(self, arrays: tuple[Any, ...]) -> bool:
        call = self._with_variables if self._locked else self.kernel.call
        if self._session is None or not self.kernel.heeds:
            return call(*arrays)
        with stopping.heeding(stopping.current(self._session)):
            return call(*arrays)

    def _with_variables(self, *arrays: Any) -> bool:
        """Run with the variables' own arrays, or copies where somebody holds what they were."""
        locked = self._locked
        for storage in locked:
            storage.__enter__()
        try:
            if [s for s in locked if s.value is None]:
                return False
            given = iter(arrays)
            inputs = [next(given) if s is None else s.writable() for s in self._storages]
            return self.kernel.call(*inputs, *given)
        finally:
            for storage in locked:
                storage.__exit__()

    def by_numpy(self, *arrays: Any) -> bool:
        """Fill the arrays behind the inputs without the code, unless it minds only how inputs lie in memory."""
        if self.kernel is not None:
            inputs, results = arrays[: len(self.takes)], arrays[len(self.takes) :]
            if not all(a.flags.c_contiguous for a in inputs) and self._by_code((*map(as_whole, inputs), *results)):
                return True
        filled = self._filled(arrays, self._host.run(self._given(arrays)))
        if self._host.memory >= memory.LARGE and self.refusal is None:  # code will be there, which needs none of it
            self._host.let_go()
        return filled

    def traced(self, trace: list[Any], *arrays: Any) -> bool:
        """Fill the arrays behind the inputs, and note when which node inside ran."""
        return self._filled(arrays, self._host.traced(self._given(arrays), trace))

    def _given(self, arrays: tuple[Any, ...]) -> list[Any]:
        given = iter(arrays)
        return [next(given) if box is None else box for box in self._boxes]

    def _filled(self, arrays: tuple[Any, ...], results: tuple[Any, ...]) -> bool:
        for target, result in zip(arrays[len(self.takes) :], results, strict=True):
            np.copyto(target, result)
        return True

    def when_ready(self, put: Callable[[Any], None]) -> None:
        """Have the code, when it is there, put in the place of this where nothing else is to be done around it."""
        if self._locked:
            return
        with _lock:
            if self.kernel is None:
                self._wanted.append(put)
                return
        self._put(put)

    def _put(self, put: Callable[[Any], None]) -> None:
        if self._session is None or not self.kernel.heeds:
            put(self.kernel.call)

    def compile(self) -> None:
        """Make the code."""
        try:
            kernel = Kernel(self.region)
        except Exception as reason:  # NumPy serves on, and `explain` says why
            self.refusal = f"{type(reason).__name__}: {reason}"
        else:
            with _lock:
                self.kernel, wanted = kernel, self._wanted
                self._wanted = []
            for put in wanted:
                self._put(put)


def as_whole(array: np.ndarray) -> np.ndarray:
    """Return an array whose elements lie one behind the other; one without axes stays that."""
    return array if array.flags.c_contiguous else array.copy()


def storage_of(value: Value, bind: Callable[[Node], Callable[..., Any]]) -> Storage | None:
    """Return the variable that a value is the handle of."""
    if not is_state(value):
        return None
    return value.storage or bind(value.node)().item()  # type: ignore[arg-type]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=kernels.begin_again)
