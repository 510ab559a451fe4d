"""Imports in the background, and those of the program beside them."""

import importlib
import os
import subprocess
import sys
import threading

import pytest

from ebbflow.platform import imports

WHOLE = """
import {signals}
{signals}.begun.set()
{signals}.wait()
from {name} import part
ready = part.ready
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that takes its time before it imports a part, which imports it: each waits for the other."""
    name, signals = "half_there_package", "half_there_signals"
    (tmp_path / f"{signals}.py").write_text(
        "import threading, time\nbegun = threading.Event()\ndef wait():\n    time.sleep(0.3)\n"
    )
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(WHOLE.format(signals=signals, name=name))
    (tmp_path / name / "part.py").write_text(f"import {name}\nready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield name, importlib.import_module(signals).begun
    for module in [module for module in sys.modules if module.startswith("half_there")]:
        del sys.modules[module]


def in_background(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_part_is_imported_after_the_whole(package):
    name, begun = package
    found = []

    def work():
        with imports.alone():
            found.append(importlib.import_module(name))

    thread = in_background(work)
    assert begun.wait(30)
    assert importlib.import_module(f"{name}.part").ready
    thread.join()
    assert found[0].ready


def test_an_import_that_lasts_is_not_waited_for(package, monkeypatch):
    name, begun = package
    monkeypatch.setattr(imports, "PATIENCE", 0.0)
    thread = in_background(lambda: importlib.import_module(name))
    assert begun.wait(30)
    entered = []

    def work():
        with imports.alone():
            entered.append(True)

    in_background(work).join()
    thread.join()
    assert entered


def test_the_main_thread_imports_as_ever():
    with imports.alone():
        done = []
        in_background(lambda: done.append(importlib.import_module("json"))).join(30)
    assert done


def test_the_lock_is_given_back_after_an_error():
    def work():
        with imports.alone():
            raise ImportError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", lambda arguments: None)
        in_background(work).join()
    done = []
    in_background(lambda: done.append(importlib.reload(importlib.import_module("colorsys")))).join(30)
    assert done


FORK = """
import os, threading
forking, locked = threading.Event(), threading.Event()
os.register_at_fork(before=locked.set)  # the first that is registered is called last: logging's lock is taken by then

import _imp, logging, signal
from ebbflow.platform import imports
signal.alarm(60)
inside = threading.Event()

def work():
    with imports.alone():
        inside.set()
        forking.wait()
        locked.wait(0.3)  # set only where the fork does not wait for the import: then the next line waits for ever
        logging.getLogger("asked for while imported")

thread = threading.Thread(target=work)
thread.start()
inside.wait()
os.register_at_fork(before=forking.set)  # the last that is registered is called first
child = os.fork()
if not child:
    signal.alarm(60)
    held = _imp.lock_held()  # by whomever: asked while no other thread imports
    logging.getLogger("in the child")
    other = threading.Thread(target=lambda: __import__("colorsys"))
    other.start()
    other.join()
    os._exit(int(held or _imp.lock_held()))
thread.join()
print(os.waitpid(child, 0)[1], _imp.lock_held())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_fork_waits_for_the_import_with_no_lock_that_it_asks_for():
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True)
    assert ran.stdout.split() == ["0", "False"], (ran.returncode, ran.stderr)
