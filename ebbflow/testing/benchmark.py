"""`tf.test.Benchmark`: timing ops under a name.

Knows sessions by their `run` only. Results are printed, and returned to the caller.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ebbflow.core.typing import Feeds, Nested, SessionLike


def benchmark_config() -> Any:
    """Return the ConfigProto benchmarks use: none in particular."""
    return None


class Benchmark:
    """A class whose `benchmark*` methods time something and report it."""

    def _get_name(self, overwrite_name: str | None = None) -> str:
        if overwrite_name is not None:
            return overwrite_name
        for frame in inspect.stack():
            if frame.function.startswith("benchmark"):
                return f"{type(self).__name__}.{frame.function}"
        return type(self).__name__

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: Mapping[Any, Any] | None = None,
    ) -> None:
        """Print a result."""
        given = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
        words = [f"{key}: {value}" for key, value in given.items() if value is not None]
        words += [f"{key}: {value}" for key, value in (extras or {}).items()]
        print(f"entry {{ name: {self._get_name(name)!r} {' '.join(words)} }}")

    def run_op_benchmark(
        self,
        sess: SessionLike,
        op_or_tensor: object,
        feed_dict: Feeds | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Run an op or tensor many times in a session, report the median wall time and return the result."""
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        median = float(np.median(times)) if times else -1.0
        found: dict[str, Any] = {"iters": min_iters, "wall_time": median, "extras": dict(extras or {})}
        if mbs and median > 0:
            found["throughput"] = mbs / median
        self.report_benchmark(**found, name=name)
        return {**found, "name": self._get_name(name)}

    def evaluate(self, tensors: Nested) -> Nested:
        """Return the values of eager tensors."""
        values = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        found = [value.numpy() if hasattr(value, "numpy") else value for value in values]
        return found if isinstance(tensors, (list, tuple)) else found[0]


TensorFlowBenchmark = Benchmark
