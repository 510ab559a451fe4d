"""Tasks on a Ray cluster of this machine, which is started for the test: skipped where Ray is not installed."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = pathlib.Path(__file__).parent.parent / "cluster" / "fault_program.py"


def test_launching_on_ray_without_ray_says_what_to_install(tmp_path):
    """A module of that name that cannot be imported stands for none."""
    (tmp_path / "ray.py").write_text("raise ImportError('none here')")
    (tmp_path / "script.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "ebbflow", "launch", "--ray", "local", "-n", "2", str(tmp_path / "script.py")],
        capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": f"{tmp_path}:{_paths()}"},
    )  # fmt: skip
    assert done.returncode != 0 and "pip install 'ebbflow[ray]'" in done.stderr


def _paths():
    return os.environ.get("PYTHONPATH", "")


def _steps(events):
    entries = [json.loads(line) for line in events.read_text().splitlines()] if events.exists() else []
    return [entry["step"] for entry in entries if entry["event"] == "step"]


def _parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _task_processes(folder):
    """The processes of the program's tasks, by name."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            environment = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        config = next((item for item in environment if item.startswith(b"TF_CONFIG=")), None)
        if config is not None and str(folder).encode() in words and b"run" in words:
            task = json.loads(config.partition(b"=")[2])["task"]
            found[f"{task['type']}{task['index']}"] = int(path.name)
    return found


@pytest.mark.parametrize("victim", ["worker1", "ps1"])
def test_r1_the_actor_of_a_task_is_killed(tmp_path, victim):
    """Its task is started again in another actor, and the weights are exact."""
    pytest.importorskip("ray")
    events = tmp_path / "events"
    running = subprocess.Popen(
        [sys.executable, "-m", "ebbflow", "launch", "--ray", "local", "--ps", "2", "--workers", "2", "--events",
         str(events), str(PROGRAM), str(tmp_path), "sync", "60", ""],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "EBBFLOW_ENGINES": "host"},
    )  # fmt: skip
    try:
        end = time.monotonic() + 150.0
        while max(_steps(events), default=0) < 30:
            assert running.poll() is None and time.monotonic() < end, "the job does not get there"
            time.sleep(0.05)
        os.kill(_parent(_task_processes(tmp_path)[victim]), signal.SIGKILL)
        text, _ = running.communicate(timeout=150)
    finally:
        running.terminate()
        running.communicate()
    assert running.returncode == 0 and "restarts: " in text and "restarts: 0" not in text, text
    (line,) = [line for line in text.splitlines() if "RESULT" in line]
    assert json.loads(line.partition("RESULT ")[2]) == [60, 360.0, 240.0, True], text
    assert not _task_processes(tmp_path)
