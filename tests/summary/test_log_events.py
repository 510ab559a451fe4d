"""Lines of a log as events."""

import pytest

from ebbflow.summary import log_events


class Writer:
    def __init__(self):
        self.events = []

    def add_event(self, event):
        self.events.append((event.log_message.level, event.log_message.message))


def test_lines_above_the_level_are_written():
    writer = Writer()
    log_events.set_summary_writer(writer)
    try:
        log_events.error("no %s", "way")
        log_events.debug("quiet")
        log_events.set_verbosity(log_events.DEBUG)
        log_events.debug("loud")
    finally:
        log_events.set_verbosity(log_events.WARN)
        log_events.clear_summary_writer()
    assert writer.events == [(40, "no way"), (10, "loud")]
    with pytest.raises(RuntimeError, match="Must call set_summary_writer"):
        log_events.warn("x")
    with pytest.raises(ValueError, match="LOUD"):
        log_events.set_verbosity("LOUD")
