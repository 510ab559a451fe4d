"""`tf.gfile` and `file_io` as TensorFlow 1 had them: the functions of `files`, with the names their arguments had.

Knows `files`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ebbflow.platform import files

if TYPE_CHECKING:
    from ebbflow.core.typing import PathLike


def Exists(filename: PathLike) -> bool:
    """Return whether there is a file or directory.

    >>> Exists("/no/such/file")
    False
    """
    return files.exists(filename)


def IsDirectory(dirname: PathLike) -> bool:
    """Return whether a path is a directory."""
    return files.isdir(dirname)


def ListDirectory(dirname: PathLike) -> list[str]:
    """Return the names in a directory."""
    return files.listdir(dirname)


def MkDir(dirname: PathLike) -> None:
    """Make a directory whose parent exists."""
    files.mkdir(dirname)


def MakeDirs(dirname: PathLike) -> None:
    """Make a directory and what is missing above it.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     MakeDirs(os.path.join(folder, "a", "b"))
    ...     Exists(os.path.join(folder, "a", "b"))
    True
    """
    files.makedirs(dirname)


def Remove(filename: PathLike) -> None:
    """Remove a file."""
    files.remove(filename)


def DeleteRecursively(dirname: PathLike) -> None:
    """Remove a directory and everything in it."""
    files.rmtree(dirname)


def Glob(filename: PathLike) -> list[str]:
    """Return the paths that fit a pattern, or any of several."""
    return files.glob(filename)


def Copy(oldpath: PathLike, newpath: PathLike, overwrite: bool = False) -> None:
    """Copy a file."""
    files.copy(oldpath, newpath, overwrite)


def Rename(oldname: PathLike, newname: PathLike, overwrite: bool = False) -> None:
    """Move a file or directory."""
    files.rename(oldname, newname, overwrite)


def Stat(filename: PathLike) -> files.FileStatistics:
    """Return length, time of change and kind of a file."""
    return files.stat(filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (directory, its directories, its files) for a directory and all below it."""
    return files.walk(top, in_order)
