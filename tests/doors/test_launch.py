"""Programs of several processes, started and watched."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent

SCRIPT = """
import json, os, sys
task = json.loads(os.environ["TF_CONFIG"])["task"]
generation = int(os.environ["EBBFLOW_GENERATION"])
print(task["type"], task["index"], "of generation", generation)
if task["type"] == "ps":
    import time
    time.sleep(600)
sys.exit(int(sys.argv[1]) if task["index"] == 1 and generation < int(sys.argv[2]) else 0)
"""


def launched(*words):
    return subprocess.run(
        [sys.executable, "-m", "ebbflow", "launch", *map(str, words)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "EBBFLOW_ENGINES": "host"},
    )  # fmt: skip


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_a_parameter_server_and_two_workers_train_together():
    done = launched("--ps", 1, "--workers", 2, ROOT / "examples" / "parameter_server.py")
    assert done.returncode == 0, done.stdout + done.stderr
    for worker in (0, 1):
        (line,) = [
            line for line in done.stdout.splitlines() if line.startswith(f"[worker {worker}] worker {worker} of")
        ]
        assert float(line.rpartition("loss ")[2]) < 0.45  # 0.69 before any step
    assert "[launch] 1 ps, 2 worker; chief: worker 0; restarts: 0" in done.stdout


def test_a_failed_task_starts_again_in_the_next_generation(script):
    done = launched("--ps", 1, "--workers", 2, script, 3, 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[ps 0] ps 0 of generation 0" in done.stdout
    assert "[worker 1] worker 1 of generation 1" in done.stdout
    assert "restarts: 1" in done.stdout


def test_a_task_that_always_fails_ends_the_program(script):
    done = launched("-n", 2, "--restarts", 1, script, 3, 99)
    assert done.returncode == 3
    assert "worker 1 ended with 3, and is not started again" in done.stdout


@pytest.mark.parametrize("words", [("-n", 0, "x.py"), ("-n", 2, "--ps", 1, "x.py"), ("-n", 1, "nowhere.py")])
def test_a_command_line_that_makes_no_sense(words):
    done = launched(*words)
    assert done.returncode == 2 and "ebbflow launch: " in done.stderr
