"""Saving and restoring 400 MB of variables: `python -m benchmarks.checkpoints [--peers DIR] [--folder DIR]`.

Each framework saves and restores a hundred matrices of 4 MB, each time in a process of its own: five times over, the
best counts. Ebbflow saves twice: brought to the disk before it is renamed, as it does by default, and handed to the
system only (EBBFLOW_CHECKPOINT_SYNC=0), which is all that the others do. `dd` says what the disk itself takes. The peak
of memory is that of a restore over variables that have values, above what the process had before it, in units of the
variables. Restored values are compared.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r"""
import os, resource, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
name, folder, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
COUNT, SIDE = 100, 1024
values = [np.full([SIDE, SIDE], i, np.float32) for i in range(COUNT)]
path = os.path.join(folder, "m")
if name == "torch":
    import torch
    torch.set_num_threads(2)
    tensors = {str(i): torch.from_numpy(v.copy()) for i, v in enumerate(values)}
    def save(): torch.save(tensors, path)
    def restore():
        loaded = torch.load(path)
        for key, tensor in tensors.items():
            tensor.copy_(loaded[key])
    def zero(): [t.zero_() for t in tensors.values()]
    def first(i): return float(tensors[str(i)][-1, -1])
else:
    import importlib
    tf = importlib.import_module(name)
    variables = [tf.Variable(v) for v in values]
    checkpoint = tf.train.Checkpoint(v=variables)
    def save(): checkpoint.write(path)
    def restore(): checkpoint.read(path).assert_consumed()
    def zero(): [v.assign(tf.zeros([SIDE, SIDE])) for v in variables]
    def first(i): return float(variables[i][-1, -1])
del values
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
def best(work, before=lambda: None):
    least = float("inf")
    for _ in range(times):
        before()
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least
saving = best(save)
zero()
held = resident()
open("/proc/self/clear_refs", "w").write("5")
restore()
peak = int([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]) * 1024
assert all(first(i) == i for i in range(COUNT))
restoring = best(restore, zero)
print("result", saving, restoring, 1 + max(0, peak - held) / (COUNT * SIDE * SIDE * 4))
"""


def measure(python: str, name: str, folder: str, times: int, sync: bool = True) -> tuple[float, float, float]:
    """Return the seconds of a save and of a restore, and the peak of memory of a restore, of one framework."""
    environment = {**os.environ, "EBBFLOW_CHECKPOINT_SYNC": "1" if sync else "0", "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [python, "-c", PROGRAM, name, folder, str(times)], capture_output=True, text=True, env=environment, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("result")]
    if not lines:
        raise SystemExit(f"{name} with {python}:\n{done.stderr[-2000:]}")
    saving, restoring, peak = (float(word) for word in lines[0].split()[1:])
    return saving, restoring, peak


def disk(folder: str, sync: bool) -> float:
    """Return the seconds that `dd` takes for as many bytes."""
    command = ["dd", "if=/dev/zero", f"of={folder}/dd", "bs=4M", "count=100", *(["conv=fsync"] if sync else [])]
    seconds = []
    for _ in range(3):
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        found = re.search(r"copied, ([\d.e-]+) s", said)
        assert found
        seconds.append(float(found[1]))
        pathlib.Path(folder, "dd").unlink()
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, help="folder of environments: tensorflow/, torch/")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PYTHON", help="tensorflow=…, torch=…")
    parser.add_argument("--folder", help="where to write (a disk of interest)")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    pythons = dict(pair.split("=", 1) for pair in options.python)
    for name in ("tensorflow", "torch"):
        if options.peers and (options.peers / name / "bin" / "python").exists():
            pythons.setdefault(name, str(options.peers / name / "bin" / "python"))
    folder = tempfile.mkdtemp(dir=options.folder)
    try:
        print("| who | save | restore | peak of a restore |\n|---|---|---|---|")
        rows = [
            ("ebbflow, on the disk", sys.executable, "ebbflow", True),
            ("ebbflow", sys.executable, "ebbflow", False),
        ]
        rows += [(name, python, name, True) for name, python in pythons.items()]
        for title, python, name, sync in rows:
            saving, restoring, peak = measure(python, name, folder, options.times, sync)
            print(f"| {title} | {saving:.3f} s | {restoring:.3f} s | {peak:.2f} × |", flush=True)
        print(f"| dd, on the disk | {disk(folder, True):.3f} s | | |\n| dd | {disk(folder, False):.3f} s | | |")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
