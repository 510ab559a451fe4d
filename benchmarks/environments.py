"""Where the frameworks live: one environment a peer, found or made."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import venv

KERAS = "keras==3.15.1"
PEERS = {
    "tensorflow": ["tensorflow==2.21.0", KERAS],
    "jax": ["jax==0.10.2", KERAS],
    "torch": ["torch==2.13.0", "numpy", KERAS],
}
CPU_ONLY = ["--extra-index-url", "https://download.pytorch.org/whl/cpu", "--retries", "1", "--timeout", "15"]
"""Where PyTorch's builds without CUDA are; those on PyPI weigh gigabytes more and measure the same here."""


def make(folder: pathlib.Path) -> None:
    """Make the environments that `folder` lacks. One that failed half-way is left without its mark and made again."""
    for name, packages in PEERS.items():
        target, mark = folder / name, folder / name / "complete"
        if python(folder, name) and (mark.exists() or target.is_symlink()):
            continue
        print(f"making {target}: {' '.join(packages)}", file=sys.stderr)
        venv.create(target, with_pip=True, clear=True)
        install = [target / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
        if name != "torch" or subprocess.run([*install, *CPU_ONLY]).returncode:
            subprocess.run(install, check=True)
        mark.touch()


def python(folder: pathlib.Path, name: str) -> str | None:
    """Return the interpreter of a peer's environment, if there is one."""
    found = folder / name / "bin" / "python"
    return str(found) if found.exists() else None


def all_pythons(folder: pathlib.Path) -> dict[str, str]:
    """Return the interpreter of every framework at hand, ours first."""
    ours = {"numpy": sys.executable, "ebbflow": sys.executable}
    peers = {name: python(folder, name) for name in PEERS}
    return {**ours, **{name: path for name, path in peers.items() if path}}
