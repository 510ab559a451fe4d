"""Training over processes that are killed, frozen and started again: it ends with weights that are known exactly."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = pathlib.Path(__file__).parent / "fault_program.py"
STEPS = 60
CHECKPOINT_STEPS = 20


class Job:
    """One launched program, and what was noted of it."""

    def __init__(self, folder, kind, faults="", *words, workers=2, steps=STEPS, without=""):
        folder.mkdir(exist_ok=True)
        self.folder, self._events = folder, folder / "events"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ebbflow", "launch", "--ps", "2", "--workers", str(workers), "--events",
             str(self._events), *map(str, words), str(PROGRAM), str(folder), kind, str(steps), faults, without],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "EBBFLOW_ENGINES": "host"},
        )  # fmt: skip

    def events(self, event):
        if not self._events.exists():
            return []
        entries = [json.loads(line) for line in self._events.read_text().splitlines() if line.endswith("}")]
        return [entry for entry in entries if entry["event"] == event]

    def wait_for_step(self, step, seconds=90.0):
        end = time.monotonic() + seconds
        while not any(entry["step"] >= step for entry in self.events("step")):
            assert self.process.poll() is None and time.monotonic() < end, "the job does not get there"
            time.sleep(0.02)

    def redone(self):
        """How many steps a worker had to go back."""
        last, most = {}, 0
        for entry in self.events("step"):
            most = max(most, last.get(entry["task"], 0) - entry["step"])
            last[entry["task"]] = entry["step"]
        return most

    def pids(self):
        """The processes of the tasks, by name, read from the environment that they were started with."""
        found = {}
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in children:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            config = next(item for item in environment if item.startswith(b"TF_CONFIG="))
            task = json.loads(config.partition(b"=")[2])["task"]
            found[f"{task['type']}{task['index']}"] = int(pid)
        return found

    def result(self, seconds=150.0, in_step=True):
        """Wait for the end; return the step, both weights in units of the rate, and the text.

        In step, both parts of a weight are alike; out of step a push may have been cut off between them.
        """
        try:
            text, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            text, _ = self.process.communicate()
            raise AssertionError(f"the job did not end in {seconds} s:\n{text}") from None
        assert self.process.returncode == 0, text
        results = {line.partition("RESULT ")[2] for line in text.splitlines() if "RESULT" in line}
        assert len(results) == 1, text  # a chief that is killed when it has told it tells the same again
        step, w, b, alike = json.loads(results.pop())
        assert alike or not in_step, text
        return step, w, b, text


@pytest.fixture
def job(tmp_path):
    jobs = []

    def start(*words, folder="job", **more):
        jobs.append(Job(tmp_path / folder, *words, **more))
        return jobs[-1]

    yield start
    for one in jobs:
        if one.process.poll() is None:
            one.process.terminate()
            one.process.communicate()


def exact(steps):
    """What the weights are after so many steps of two workers, in units of the rate."""
    return 2.0 * sum(s % 5 + 1 for s in range(steps)), 4.0 * steps


@pytest.mark.parametrize(
    "faults",
    ["", "ps1:SIGKILL", "worker1:SIGKILL", "worker0:SIGKILL", "ps0:SIGKILL,ps1:SIGKILL", "ps0:SIGKILL,worker0:SIGKILL"],
    ids=["none", "F1 a ps", "F2 a worker", "F3 the chief", "F5 both ps", "F5 a ps and the chief"],
)
def test_in_step_whatever_is_killed(job, faults):
    running = job("sync", faults)
    step, w, b, text = running.result()
    assert step >= STEPS and (w, b) == exact(step), text
    assert f"restarts: {faults.count(':')}" in text
    assert running.redone() <= (CHECKPOINT_STEPS if "ps" in faults else 0), text


def test_f7_the_chief_dies_when_half_of_the_servers_have_taken_a_step(job):
    running = job("sync", "chief:between")
    step, w, b, text = running.result()
    assert "restarts: 1" in text and "was cut off and is finished: 1 of 2 tasks" in text
    assert step >= STEPS and (w, b) == exact(step), text
    assert running.redone() == 0


@pytest.mark.parametrize("without", ["", "one_each"])
def test_f2_a_worker_gives_again_what_it_gave_before_it_was_killed(job, without):
    step, w, b, text = job("sync", "worker1:twice", without=without).result(in_step=not without)
    assert ((w, b) == exact(step)) is (not without), text
    assert without or "restarts: 1" in text  # without, the second worker goes on alone


def test_without_adoption_f3_fails(job):
    running = job("sync", "worker0:SIGKILL", without="adoption")
    step, w, b, text = running.result()
    assert (w, b) == exact(step), text
    assert running.redone() > 0, text


@pytest.mark.parametrize("seed", range(3))
def test_f4_kills_at_random(job, seed):
    running = job("sync", "", "--chaos", seed, "--kills", 3, "--restarts", 20, steps=2 * STEPS)
    step, w, b, text = running.result(240.0)
    assert step >= 2 * STEPS and (w, b) == exact(step), text
    assert running.events("kill"), "nothing was killed"


def test_f10_a_frozen_parameter_server_that_wakes_up(job):
    running = job("sync")
    running.wait_for_step(STEPS // 2)
    pid = running.pids()["ps0"]
    os.kill(pid, signal.SIGSTOP)
    time.sleep(5.0)
    os.kill(pid, signal.SIGCONT)
    step, w, b, text = running.result()
    assert step >= STEPS and (w, b) == exact(step), text


def test_f14_a_disk_is_full_for_a_while(job):
    running = job("sync", "ps0:full")
    step, w, b, text = running.result()
    assert step >= STEPS and (w, b) == exact(step), text
    assert "restarts: 0" in text and "the checkpoint of step 40 was not written, training goes on" in text
    kept = {path.name.split("-")[1].partition(".")[0] for path in (running.folder / "saved").glob("model.ckpt-*.index")}
    assert kept == {"0", "20", "60"}, kept
    assert not list((running.folder / "saved").glob("*temp*")), text


def test_f9_out_of_step_no_push_counts_twice(job):
    running = job("async", "ps0:SIGKILL,worker1:SIGKILL")
    step, w, b, text = running.result(in_step=False)
    assert step >= STEPS, text
    assert abs(w - step) <= 4 and abs(b / 2 - step) <= 4, (
        text
    )  # a push that was cut off in the middle: one of each kill


def test_f12_a_backup_worker_stands_in_for_a_slow_one(job):
    running = job("backup", workers=3)
    step, w, b, text = running.result()
    assert step >= STEPS and (2 * w, 2 * b) == exact(step), text
    entries = [entry for entry in running.events("step") if entry["task"] != "worker 2"]
    slow = [entry for entry in running.events("step") if entry["task"] == "worker 2"]
    assert len(entries) > 4 * len(slow) > 0  # nobody waited for it


def test_f15_f8_all_are_killed_and_a_shard_is_damaged(job):
    running = job("sync")
    running.wait_for_step(50)
    for pid in [running.process.pid, *running.pids().values()]:
        os.kill(pid, signal.SIGKILL)
    running.process.communicate()
    saved = running.folder / "saved"
    listed = [line for line in (saved / "checkpoint").read_text().splitlines() if line.startswith("model_checkpoint")]
    newest = listed[0].split('"')[1]
    shard = sorted(saved.glob(f"{pathlib.Path(newest).name}.data-*"))[0]
    shard.write_bytes(shard.read_bytes()[:-1])
    step, w, b, text = job("sync").result()
    assert step >= STEPS and (w, b) == exact(step), text
