"""The rooms of the house: each imports only rooms below it."""

from __future__ import annotations

import ast
import pathlib

PACKAGE = pathlib.Path(__file__).parent.parent / "ebbflow"

# From the ground up. A room may import the rooms before it, and itself.
ROOMS = (
    "core",
    "platform",
    "messages",
    "ops",
    "engines",
    "eager",
    "graph",
    "trackable",
    "compiler",
    "runtime",
    "functions",
    "cluster",
    "io",
    "state",
    "linear",
    "distributions",
    "data",
    "checkpoint",
    "distribute",
    "savedmodel",
    "train",
    "layers",
    "feature_column",
    "summary",
    "monitored",
    "testing",
    "tf1",
    "api",
    "doors",
)
# Imports that go up, and why each must: they are inside a function, run only when asked for, and load protobuf.
EXCEPTIONS = {
    ("core/dtypes.py", "messages"): "a dtype as a message",
    ("core/shape.py", "messages"): "a shape as a message",
}
TOP = {"__init__.py", "__main__.py", "cli.py", "pytest.py", "v1.py"}


def imported_rooms(path: pathlib.Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "ebbflow":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("ebbflow.")}
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.add(f"relative import in {path.name}")
    return found


def files() -> list[pathlib.Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE)


def test_every_folder_is_a_known_room():
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert folders <= set(ROOMS)


def test_rooms_import_only_downwards():
    wrong = []
    for path in files():
        room = path.relative_to(PACKAGE).parts[0]
        for other in imported_rooms(path):
            name = str(path.relative_to(PACKAGE))
            if other == room or (name, other) in EXCEPTIONS:
                continue
            if other not in ROOMS or ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{name} imports {other}")
    assert not wrong, "\n".join(wrong)


def test_the_map_is_read_right():
    assert "ops" in imported_rooms(PACKAGE / "eager" / "backprop.py")
    assert "core" in imported_rooms(PACKAGE / "ops" / "declare.py")
