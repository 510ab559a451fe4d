"""Record what two workers of TensorFlow's MultiWorkerMirroredStrategy find: tests/golden/tf221/multi_worker.json.

    python tools/record/multi_worker.py

Run it in an environment that has TensorFlow 2.21. Starts tests/golden/two_workers.py twice, as TF_CONFIG would have it.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import socket
import subprocess
import sys

WRITES = ("tf221/multi_worker.json",)
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


def main() -> None:
    """Run both workers, and write what they print."""
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("localhost", 0))
    addresses = [f"localhost:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    running = []
    for i in range(2):
        config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(config), "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [sys.executable, str(GOLDEN / "two_workers.py")]
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    said = [process.communicate(timeout=120)[0] for process in running]
    facts = {
        f"worker {i}": ast.literal_eval(text.partition("FACTS ")[2].splitlines()[0]) for i, text in enumerate(said)
    }
    (GOLDEN / WRITES[0]).write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
