"""What all tests share: helper modules are found as `tests.…`, behind whatever is installed; each test starts in
TF 2's manners.
"""

import pathlib
import sys

import pytest

from ebbflow.core import context

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """A test module that goes through the TF 1 door does so alone: those collected after it are not in graph mode."""
    report = yield
    _come_back()
    return report


@pytest.fixture(autouse=True)
def manners_of_tf2():
    """Undo a change of era that a test, or an import, leaves behind: it is process-wide."""
    _come_back()
    yield
    _come_back()


def _come_back():
    if context.switches.tf1 or not context.switches.v2_behavior:
        context.enter_v2()
