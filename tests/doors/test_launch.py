"""Programs of several processes, started and watched."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent

SCRIPT = """
import json, os, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
generation = int(os.environ["EBBFLOW_GENERATION"])
print(task["type"], task["index"], "of generation", generation)
if task["type"] == "ps":
    time.sleep(600)
fails = task["index"] == 1 and generation < int(sys.argv[2])
done, waits = __file__ + ".done", time.monotonic() + 60
if task["index"] == 1 and not fails:
    open(done, "w").close()
while task["index"] == 0 and sys.argv[1] != "0" and not os.path.exists(done) and time.monotonic() < waits:
    time.sleep(0.02)  # the chief goes on while others fail
sys.exit(int(sys.argv[1]) if fails else 0)
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


LATE = """
import json, os, time
from ebbflow.cluster.departed import departed

task = json.loads(os.environ["TF_CONFIG"])["task"]
end = time.monotonic() + 60
while task["type"] == "worker" and task["index"] == 1 and not departed() and time.monotonic() < end:
    time.sleep(0.02)
if task["type"] == "ps":
    time.sleep(600)
print("knows of", *departed())
"""


def test_a_worker_knows_of_another_that_is_done(tmp_path):
    """A session that it makes then does not wait for it."""
    script = tmp_path / "script.py"
    script.write_text(LATE)
    done = launched("--ps", 1, "--workers", 2, script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[worker 1] knows of /job:worker/replica:0/task:0" in done.stdout


def test_a_task_that_always_fails_ends_the_program(script):
    done = launched("-n", 2, "--restarts", 1, script, 3, 99)
    assert done.returncode == 3
    assert "worker 1 ended with 3, and is not started again" in done.stdout


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


LINGER = """
import os, sys, time
open(f"{sys.argv[1]}/{os.getpid()}-{os.environ['EBBFLOW_GENERATION']}", "w").close()
while not os.path.exists(sys.argv[1] + "/end"):
    time.sleep(0.05)
"""


@pytest.fixture
def lingering(tmp_path):
    """A launched program of two workers that wait until they are told to end."""
    path, folder = tmp_path / "linger.py", tmp_path / "pids"
    path.write_text(LINGER)
    folder.mkdir()
    running = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "ebbflow", "launch", *words, str(path), str(folder)],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "EBBFLOW_ENGINES": "host"},
        )  # fmt: skip
        running.append(process)
        wait_for(lambda: len(list(folder.iterdir())) >= 2)
        return process, folder

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_a_program_ends_with_its_supervisor_and_leaves_no_file(lingering, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process, folder = lingering("-n", "2")
    pids = [int(path.name.partition("-")[0]) for path in folder.iterdir()]
    process.kill()
    wait_for(lambda: not any(map(alive, pids)), 15.0)
    assert not list(temporary.iterdir())


def test_a_frozen_task_is_killed_and_replaced(lingering):
    process, folder = lingering("--workers", "2", "--frozen", "2")
    frozen = int(min(path.name for path in folder.iterdir()).partition("-")[0])
    os.kill(frozen, signal.SIGSTOP)
    wait_for(lambda: any(path.name.endswith("-1") for path in folder.iterdir()))
    assert not alive(frozen)
    (folder / "end").touch()
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "shows no life for 2 s: it is killed" in text and "restarts: 1" in text


def test_chaos_kills_what_the_seed_says_and_says_so(script, tmp_path):
    path, events = tmp_path / "slow.py", tmp_path / "events"
    path.write_text("import time; time.sleep(2.5)")
    done = launched("--workers", 2, "--restarts", 0, "--chaos", 3, "--kills", 2, "--events", events, path)
    assert done.returncode == 0 and "restarts: 2" in done.stdout, done.stdout
    noted = [json.loads(line) for line in events.read_text().splitlines()]
    assert [entry["event"] for entry in noted].count("kill") == 2
    kills = [entry["task"] for entry in noted if entry["event"] == "kill"]
    assert [entry["task"] for entry in noted if entry["event"] == "start"][2:] == kills


@pytest.mark.parametrize("words", [("-n", 0, "x.py"), ("-n", 2, "--ps", 1, "x.py"), ("-n", 1, "nowhere.py")])
def test_a_command_line_that_makes_no_sense(words):
    done = launched(*words)
    assert done.returncode == 2 and "ebbflow launch: " in done.stderr
