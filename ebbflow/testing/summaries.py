"""`tf.contrib.testing`: reading back the summaries that a test wrote, and a writer that only remembers them."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ebbflow import messages
from ebbflow.core.typing import Message, PathLike
from ebbflow.summary import writer as writers
from ebbflow.summary.writer import summary_iterator

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


def assert_summary(
    expected_tags: Sequence[str], expected_simple_values: Sequence[float], summary_proto: Message
) -> None:
    """Raise unless a summary has exactly these tags, and no tag a value that is not among the expected ones."""
    tags = {value.tag for value in summary_proto.value}
    wrong = {value.tag: value.simple_value for value in summary_proto.value}
    if tags != set(expected_tags):
        raise AssertionError(f"Unexpected tags. Expected: {sorted(expected_tags)}, got: {sorted(tags)}.")
    wrong = {tag: value for tag, value in wrong.items() if value not in expected_simple_values}
    if wrong:
        raise AssertionError(f"Unexpected values {wrong}. Expected: {list(expected_simple_values)}.")


def latest_event_file(base_dir: PathLike) -> str | None:
    """Return the newest event file of a folder, or None."""
    files = glob.glob(os.path.join(os.fspath(base_dir), "events.*"))  # type: ignore[arg-type]
    return max(files, key=os.path.getmtime) if files else None


def latest_events(base_dir: PathLike) -> list[Message]:
    """Return the events of the newest event file of a folder."""
    file = latest_event_file(base_dir)
    return [] if file is None else list(summary_iterator(file))


def latest_summaries(base_dir: PathLike) -> list[Message]:
    """Return the events with summaries of the newest event file of a folder."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


class FakeSummaryWriter:
    """Remembers what is written, for a test to look at."""

    _replaced: ClassVar[Any] = None

    @classmethod
    def install(cls) -> None:
        """Have writers of folders, of the cache, too, be such ones from now on."""
        if cls._replaced is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced, writers.FileWriter = writers.FileWriter, cls  # type: ignore[assignment,misc]

    @classmethod
    def uninstall(cls) -> None:
        """Have them write again."""
        if cls._replaced is None:
            raise ValueError("FakeSummaryWriter not installed.")
        cls._replaced, writers.FileWriter = None, cls._replaced  # type: ignore[misc]

    def __init__(self, logdir: PathLike, graph: Graph | None = None) -> None:
        self._logdir, self._graph = logdir, graph
        self._summaries: dict[Any, list[Message]] = {}
        self._graphs: list[Any] = []
        self._meta_graphs: list[Any] = []
        self._session_logs: list[Any] = []
        self._run_metadata: dict[str, Message] = {}

    @property
    def summaries(self) -> dict[Any, list[Message]]:
        """The summaries of each step, in the order in which they came."""
        return self._summaries

    def add_summary(self, summ: Message | bytes, current_global_step: int) -> None:
        """Remember a summary."""
        summary = messages.parse(messages.Summary, summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(summary)

    def add_graph(self, graph: Graph, global_step: int | None = None, graph_def: Message | None = None) -> None:
        """Remember a graph; one as a message is refused."""
        self._check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"FakeSummaryWriter takes a graph, not its message: Unexpected graph_def {graph_def}.")
        self._graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Message, global_step: int | None = None) -> None:
        """Remember a MetaGraphDef."""
        self._check_step(global_step)
        self._meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Message, global_step: int | None = None) -> None:
        """Remember a log of a session."""
        self._session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Message, tag: str, global_step: int | None = None) -> None:
        """Remember what a run tells of itself."""
        self._check_step(global_step)
        self._run_metadata[tag] = run_metadata

    def _check_step(self, step: int | None) -> None:
        if step is not None and step < 0:
            raise ValueError(f"Invalid global_step {step}.")

    def flush(self) -> None:
        """Do nothing: nothing waits."""

    def reopen(self) -> None:
        """Do nothing: nothing is closed."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: PathLike | None = None,
        expected_graph: Graph | None = None,
        expected_summaries: Mapping[Any, Mapping[str, float]] | None = None,
        expected_added_graphs: Sequence[Any] | None = None,
        expected_added_meta_graphs: Sequence[Any] | None = None,
        expected_session_logs: Sequence[Any] | None = None,
    ) -> None:
        """Have a test fail unless what is remembered is what is expected; how fast steps were is left out."""
        pairs = (
            (expected_logdir, self._logdir),
            (expected_graph, self._graph),
            (expected_added_graphs, self._graphs),
            (expected_added_meta_graphs, self._meta_graphs),
            (expected_session_logs, self._session_logs),
        )
        for expected, remembered in pairs:
            if expected is not None:
                test_case.assertEqual(expected, remembered)
        for step, values in (expected_summaries or {}).items():
            test_case.assertIn(step, self._summaries)
            found = {value.tag: value.simple_value for summary in self._summaries[step] for value in summary.value}
            found.pop("global_step/sec", None)
            test_case.assertEqual(values, found)
