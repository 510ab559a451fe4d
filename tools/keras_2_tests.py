"""Run Keras 2's own tests on Ebbflow or TensorFlow, and tell which share of what passes there passes here.

The wheel of tf_keras has no tests: they are put beside a copy of the installed package, from a checkout of the sources
at the tag of its version. Each file runs in a process of its own, forked when everything is imported; results are kept
by test, and a run that is begun again goes on where it ended. Needs pytest, pytest-timeout and absl.

    python tools/keras_2_tests.py tree SOURCES TREE                   # SOURCES/tf_keras is of the installed version
    PYTHONPATH=TREE python tools/keras_2_tests.py run ours.csv --ebbflow TREE FILE...     # engine/training_test.py
    PYTHONPATH=TREE python tools/keras_2_tests.py run theirs.csv TREE FILE...             # with TensorFlow's Python
    python tools/keras_2_tests.py share ours.csv theirs.csv
"""

from __future__ import annotations

import argparse
import collections
import csv
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import sys
import time
from typing import Any


def tree(sources: str, target: str) -> None:
    """Copy the installed package, and beside its modules the files that only the sources have."""
    found = importlib.util.find_spec("tf_keras")
    if found is None or found.origin is None:
        raise SystemExit("tf_keras is not installed")
    home, below = pathlib.Path(target) / "tf_keras", pathlib.Path(sources) / "tf_keras"
    shutil.copytree(pathlib.Path(found.origin).parent, home, ignore=shutil.ignore_patterns("__pycache__"))
    for path in below.rglob("*"):
        copy = home / "src" / path.relative_to(below)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(_as_installed(path) if path.suffix == ".py" else path.read_bytes())


def _as_installed(path: pathlib.Path) -> bytes:
    """Return a module with its imports as the wheel has them: below `tf_keras.src`."""
    text = re.sub(r"\b(from|import) tf_keras\.(?!src\b|protobuf\b|api\b)", r"\1 tf_keras.src.", path.read_text())
    text = re.sub(r"\bfrom tf_keras import\b", "from tf_keras.src import", text)
    return re.sub(r"\bimport tf_keras as keras\b", "import tf_keras.src as keras", text).encode()


class Recorder:
    """A plugin of pytest: a row for each test that ends; tests that have one are left out."""

    def __init__(self, file: str, path: str, done: set[str]) -> None:
        self.file, self.path, self.done, self.outcome = file, path, done, "error"

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what was run before."""
        items[:] = [item for item in items if _test(item.nodeid) not in self.done]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note a test before it runs: should the process die, it did not pass."""
        add(self.path, self.file, _test(nodeid), "died")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how it ended."""
        if report.when == "setup" or report.failed or report.when == "call":
            self.outcome = report.outcome
        if report.when == "teardown":
            add(self.path, self.file, _test(report.nodeid), self.outcome)


def _test(nodeid: str) -> str:
    return nodeid.split("::", 1)[1]


def add(path: str, *row: str) -> None:
    """Add a row to a table."""
    with open(path, "a", newline="") as stream:
        csv.writer(stream).writerow(row)


def outcomes(path: str) -> dict[tuple[str, str], str]:
    """Return the last outcome of each test; that of a file that has been run is under no test."""
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as stream:
        return {(file, test): outcome for file, test, outcome in csv.reader(stream)}


def run(path: str, home: str, files: list[str], ebbflow: bool, limit: float) -> None:
    """Run files, each in a process that is ended when its time is over."""
    path, home = os.path.abspath(path), os.path.abspath(home)
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    if ebbflow:
        from ebbflow.doors import alias

        alias.install()
    import pytest
    import tf_keras.src  # noqa: F401  # before the forks, which need not import it again
    from absl import flags

    flags.FLAGS(sys.argv[:1])
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb=no", "--rootdir", home, "--timeout=150"]
    for file in files:
        known = outcomes(path)
        while (file, "") not in known:
            process = os.fork()
            if not process:
                os.chdir(home)
                done = {test for name, test in known if name == file}
                os._exit(pytest.main([*options, f"tf_keras/src/{file}"], [Recorder(file, path, done)]))
            if _ended(process, limit):
                add(path, file, "", "run")
            known = outcomes(path)


def _ended(process: int, limit: float) -> bool:
    """Wait for a process; return whether nothing is left to run, which is so where it did not die."""
    late = time.monotonic() + limit
    while time.monotonic() < late:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.WIFEXITED(status)
        time.sleep(0.1)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return True


def share(ours: str, theirs: str) -> None:
    """Print, by area, how many of the tests that pass there pass here, and which do not."""
    here, there = outcomes(ours), outcomes(theirs)
    both = {file for file, _ in here} & {file for file, _ in there}
    wanted = [key for key, outcome in there.items() if outcome == "passed" and key[0] in both]
    lost = [key for key in wanted if here.get(key) != "passed"]
    missed = collections.Counter(file.split("/")[0] for file, _ in lost)
    for area, count in sorted(collections.Counter(file.split("/")[0] for file, _ in wanted).items()):
        print(f"{area:30} {count - missed[area]:6} of {count:6}  {1 - missed[area] / count:.2%}")
    for file, test in lost:
        print(file, test, here.get((file, test), "is not there"))


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for name, places in (("tree", ["sources", "target"]), ("run", ["table", "tree"]), ("share", ["ours", "theirs"])):
        action = actions.add_parser(name)
        for place in places:
            action.add_argument(place)
        if name == "run":
            action.add_argument("files", nargs="+")
            action.add_argument("--ebbflow", action="store_true")
            action.add_argument("--limit", type=float, default=900.0, help="seconds for a file")
    args = parser.parse_args()
    if args.action == "tree":
        tree(args.sources, args.target)
    elif args.action == "run":
        run(args.table, args.tree, args.files, args.ebbflow, args.limit)
    else:
        share(args.ours, args.theirs)


if __name__ == "__main__":
    main()
