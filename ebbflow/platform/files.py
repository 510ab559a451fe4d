"""Files of this machine under TensorFlow's names: `tf.gfile`, `tf.io.gfile`, `file_io`, with `tf.errors` for failures.

Knows the operating system and `core.errors`. Paths with a scheme other than `file://` are refused here; remote file
systems belong to `io`.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import os
import shutil
import stat as modes
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbflow.core import errors

Path = Any  # str, bytes or os.PathLike


def local(path: Path) -> str:
    """Return a path as the operating system takes it."""
    text = os.fspath(path)
    text = text.decode() if isinstance(text, bytes) else text
    scheme, separator, rest = text.partition("://")
    if not separator:
        return text
    if scheme == "file":
        return rest
    raise errors.UnimplementedError(None, None, f"File system scheme '{scheme}' not implemented (file: '{text}')")


KINDS = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EINVAL: errors.InvalidArgumentError,
}
"""The error class for each of the operating system's reasons; UnknownError for the rest."""


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn the operating system's errors inside the block into `tf.errors` that name the path."""
    try:
        yield
    except OSError as error:
        kind: Any = KINDS.get(error.errno or 0)
        message = f"{os.fsdecode(path)}; {error.strerror or error}"
        if kind is None:
            raise errors.UnknownError(None, None, message) from None
        raise kind(None, None, message) from None


class GFile:
    """A file of this machine, opened when first read or written.

    Text modes give and take `str`, modes with `b` give `bytes`; writing takes either.
    """

    def __init__(self, name: Path, mode: str = "r") -> None:
        plain = mode.replace("b", "").replace("U", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            given = "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            raise errors.InvalidArgumentError(None, None, f"{given}: {mode!r}")
        self._name, self._mode, self._plain, self._binary = name, mode, plain, "b" in mode
        self._file: Any = None

    name = property(lambda self: self._name, doc="The path, as it was given.")
    mode = property(lambda self: self._mode, doc="The mode, as it was given.")

    def _open(self, writing: bool) -> Any:
        if self._plain == ("r" if writing else "w") or (not writing and self._plain == "a"):
            wanted = "writing" if writing else "reading"
            raise errors.PermissionDeniedError(None, None, f"File isn't open for {wanted}")
        if self._file is None:
            with told(self._name):
                self._file = open(local(self._name), self._plain + "b")  # noqa: SIM115 (closed by `close`)
        return self._file

    def _text(self, value: bytes) -> Any:
        return value if self._binary else value.decode("utf-8")

    def read(self, n: int = -1) -> Any:
        """Return the next `n` bytes, or all that are left, as `str` unless the mode says binary."""
        file = self._open(writing=False)
        with told(self._name):
            return self._text(file.read(n))

    def readline(self) -> Any:
        """Return the next line with its end, or an empty one at the end of the file."""
        file = self._open(writing=False)
        with told(self._name):
            return self._text(file.readline())

    def readlines(self) -> list[Any]:
        """Return all lines that are left."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Write text or bytes at the end of what was written."""
        file = self._open(writing=True)
        with told(self._name):
            file.write(file_content.encode("utf-8") if isinstance(file_content, str) else file_content)

    def size(self) -> int:
        """Return how many bytes the file has."""
        self.flush()
        return stat(self._name).length

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a byte of the file, counted from its start, from here (whence=1) or from its end (whence=2)."""
        where = position if offset is None else offset
        if where is None:
            raise TypeError("seek(): offset argument required")
        file = self._open(writing=self._plain in ("w", "a"))
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        with told(self._name):
            file.seek(where, whence)

    def tell(self) -> int:
        """Return the number of the byte that comes next."""
        return self._open(writing=self._plain in ("w", "a")).tell()

    def seekable(self) -> bool:
        """Return True: every file of this machine can be sought in."""
        return True

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file; writing an empty file makes it exist."""
        if self._file is None and self._plain.startswith(("w", "a")):
            self._open(writing=True)
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


FileIO = Open = FastGFile = GFile


@dataclass(frozen=True)
class FileStatistics:
    """How long a file is, when it was last changed (in nanoseconds), and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Path) -> bool:
    """Return whether there is a file or directory at `path`."""
    return os.path.exists(local(path))


def isdir(path: Path) -> bool:
    """Return whether `path` is a directory."""
    return os.path.isdir(local(path))


def listdir(path: Path) -> list[str]:
    """Return the names in a directory."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {os.fsdecode(path)}")
    with told(path):
        return sorted(os.listdir(local(path)))


def stat(path: Path) -> FileStatistics:
    """Return length, time of change and kind of a file."""
    with told(path):
        found = os.stat(local(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, modes.S_ISDIR(found.st_mode))


def mkdir(path: Path) -> None:
    """Make a directory whose parent exists; one that exists is no error."""
    with told(path), contextlib.suppress(FileExistsError):
        os.mkdir(local(path))


def makedirs(path: Path) -> None:
    """Make a directory and what is missing above it; one that exists is no error."""
    with told(path):
        os.makedirs(local(path), exist_ok=True)


def remove(path: Path) -> None:
    """Remove a file."""
    with told(path):
        os.remove(local(path))


def rmtree(path: Path) -> None:
    """Remove a directory and everything in it."""
    if not exists(path):
        raise errors.NotFoundError(None, None, f"{os.fsdecode(path)} not found")
    with told(path):
        shutil.rmtree(local(path))


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; one that exists is replaced only if told to."""
    _refuse_existing(dst, overwrite)
    with told(src):
        shutil.copyfile(local(src), local(dst))


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Move a file or directory; one that exists is replaced only if told to."""
    _refuse_existing(dst, overwrite)
    with told(src):
        os.replace(local(src), local(dst))


def _refuse_existing(path: Path, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def glob(pattern: Path | Sequence[Path]) -> list[str]:
    """Return the paths that fit a pattern with `*`, `?` and `[...]`, or any of several patterns."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [path for one in patterns for path in _matches(local(one))]


def _matches(pattern: str) -> list[str]:
    head, tail = os.path.split(pattern)
    if not any(sign in pattern for sign in "*?["):
        return [pattern] if os.path.lexists(pattern) else []
    if not tail or head == pattern:
        return [os.path.join(path, "") for path in _matches(head) if os.path.isdir(path)]
    found = []
    for directory in _matches(head) if head else [""]:
        with contextlib.suppress(OSError):
            names = sorted(os.listdir(directory or os.curdir))
            found += [os.path.join(directory, name) for name in names if fnmatch.fnmatchcase(name, tail)]
    return found


def walk(
    top: Path, topdown: bool = True, onerror: Callable[[Any], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (directory, its directories, its files) for a directory and all below it."""
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror:
            onerror(error)
        return
    here = local(top)
    inside = [name for name in names if isdir(os.path.join(here, name))]
    outside = [name for name in names if name not in set(inside)]
    if topdown:
        yield here, inside, outside
    for name in inside:
        yield from walk(os.path.join(here, name), topdown, onerror)
    if not topdown:
        yield here, inside, outside


def join(path: Path, *paths: Path) -> Any:
    """Return path components put together."""
    return os.path.join(path, *paths)


def get_registered_schemes() -> list[str]:
    """Return the schemes of paths that can be opened."""
    return ["", "file"]


def read_file_to_string(filename: Path, binary_mode: bool = False) -> Any:
    """Return the contents of a file."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Path, file_content: Any) -> None:
    """Write a file."""
    with GFile(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Path, contents: Any, overwrite: bool = True) -> None:
    """Write a file so that readers see the old contents or the new, never a part."""
    part = f"{local(filename)}.tmp{os.getpid()}"
    write_string_to_file(part, contents)
    try:
        rename(part, filename, overwrite)
    except errors.OpError:
        remove(part)
        raise


def filecmp(filename_a: Path, filename_b: Path) -> bool:
    """Return whether two files have the same contents."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    with GFile(filename_a, "rb") as a, GFile(filename_b, "rb") as b:
        while True:
            block = a.read(1 << 20)
            if block != b.read(1 << 20):
                return False
            if not block:
                return True


def file_crc32(filename: Path, block_size: int = 1 << 20) -> str:
    """Return the CRC-32 of a file, in hexadecimal."""
    checksum = 0
    with GFile(filename, "rb") as file:
        while block := file.read(block_size):
            checksum = zlib.crc32(block, checksum)
    return hex(checksum & 0xFFFFFFFF)
