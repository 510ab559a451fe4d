"""Files under TensorFlow's names: `tf.gfile`, `tf.io.gfile`, `file_io`, with `tf.errors` for failures.

Knows `core.errors` and, through `platform.file_systems`, this machine's files and those behind a scheme (`memory://`,
`s3://`, …).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbflow.core import errors
from ebbflow.platform.file_systems import LOCAL, Path, system_of, text_of  # noqa: F401  (used by others)


def local(path: Path) -> str:
    """Return a path as the operating system takes it."""
    system, text = system_of(path)
    if system is not LOCAL:
        raise errors.UnimplementedError(None, None, f"'{text}' is not a file of this machine")
    return text


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
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EFBIG: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
}
"""The error class for each of the operating system's reasons; UnknownError for the rest."""

_ERRNO_OF_CLASS = {  # of other file systems, whose errors have no number
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
}


def file_error(path: Path, error: OSError) -> errors.OpError:
    """Return the `tf.errors` error that says what an OSError did, naming `path`."""
    kind: Any = KINDS.get(error.errno or _ERRNO_OF_CLASS.get(type(error), 0), errors.UnknownError)
    return kind(None, None, f"{os.fsdecode(path)}; {error.strerror or error}")


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn the operating system's errors inside the block into `tf.errors` that name the path."""
    try:
        yield
    except OSError as error:
        raise file_error(path, error) from None


class GFile:
    """A file of this machine, opened when first read or written.

    Text modes give and take `str`, modes with `b` give `bytes`; writing takes either. With a `+` in the mode what is
    written and what is read have places of their own: reading begins at the start, writing (unless mode is `a+`) makes
    the file anew.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "note.txt")
    ...     with GFile(path, "w") as file:
    ...         _ = file.write("hello")
    ...     GFile(path).read()
    'hello'
    """

    def __init__(self, name: Path, mode: str = "r", encoding: str | None = "utf-8") -> None:
        plain = mode.replace("b", "").replace("U", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            given = "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            raise errors.InvalidArgumentError(None, None, f"{given}: {mode!r}")
        self._name, self._mode, self._plain, self._binary = name, mode, plain, "b" in mode
        self._encoding = encoding or "utf-8"
        self._reader: Any = None
        self._writer: Any = None
        self._was_open = False

    name = property(lambda self: self._name, doc="The path, as it was given.")
    mode = property(lambda self: self._mode, doc="The mode, as it was given.")

    def _open(self, writing: bool) -> Any:
        if self._plain == ("r" if writing else "w") or (not writing and self._plain == "a"):
            wanted = "writing" if writing else "reading"
            raise errors.PermissionDeniedError(None, None, f"File isn't open for {wanted}")
        found = self._writer if writing else self._reader
        if found is None:
            self.flush()
            with told(self._name):
                system, path = system_of(self._name)
                found = system.open(path, "rb" if not writing else "ab" if self._plain[0] == "a" else "wb")
            self._was_open = True
            if writing:
                self._writer = found
            else:
                self._reader = found
        return found

    def _text(self, value: bytes) -> Any:
        return value if self._binary else value.decode(self._encoding)

    def read(self, n: int = -1) -> Any:
        """Return the next `n` bytes, or all that are left, as `str` unless the mode says binary."""
        file = self._open(writing=False)
        self.flush()
        with told(self._name):
            return self._text(file.read(n))

    def readline(self) -> str | bytes:
        """Return the next line with its end, or an empty one at the end of the file."""
        file = self._open(writing=False)
        self.flush()
        with told(self._name):
            return self._text(file.readline())

    def readlines(self) -> list[Any]:
        """Return all lines that are left."""
        return list(self)

    def write(self, file_content: str | bytes) -> None:
        """Write text or bytes at the end of what was written."""
        file = self._open(writing=True)
        with told(self._name):
            file.write(file_content.encode(self._encoding) if isinstance(file_content, str) else file_content)

    def size(self) -> int:
        """Return how many bytes the file has."""
        self.flush()
        return stat(self._name).length

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a byte of the file, counted from its start, from here (whence=1) or from its end (whence=2)."""
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position are the same thing, and one of them is enough")
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
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the file; writing an empty file makes it exist. Closing it again changes nothing."""
        if self._plain.startswith(("w", "a")) and not self._was_open:
            self._open(writing=True)
        for file in (self._writer, self._reader):
            if file is not None:
                file.close()
        self._writer = self._reader = None

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


def read_bytes(path: Path) -> bytes:
    """Return all bytes of a file."""
    with told(path):
        system, text = system_of(path)
        return system.read(text)


@dataclass(frozen=True)
class FileStatistics:
    """How long a file is, when it was last changed (in nanoseconds), and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Path) -> bool:
    """Return whether there is a file or directory at `path`.

    >>> exists("no such file")
    False
    """
    system, text = system_of(path)
    return system.exists(text)


def isdir(path: Path) -> bool:
    """Return whether `path` is a directory."""
    system, text = system_of(path)
    return system.isdir(text)


def listdir(path: Path) -> list[str]:
    """Return the names in a directory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     listdir(folder)
    []
    """
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {os.fsdecode(path)}")
    return _asked(path, "listdir")


def stat(path: Path) -> FileStatistics:
    """Return length, time of change and kind of a file."""
    return FileStatistics(*_asked(path, "stat"))


def mkdir(path: Path) -> None:
    """Make a directory whose parent exists; one that exists is no error."""
    _asked(path, "mkdir")


def makedirs(path: Path) -> None:
    """Make a directory and what is missing above it; one that exists is no error, and no name is the one we are in.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     makedirs(f"{folder}/a/b")
    ...     listdir(folder)
    ['a']
    """
    if path:
        _asked(path, "makedirs")


def remove(path: Path) -> None:
    """Remove a file."""
    _asked(path, "remove")


def rmtree(path: Path) -> None:
    """Remove a directory and everything in it."""
    if not exists(path):
        raise errors.NotFoundError(None, None, f"{os.fsdecode(path)} not found")
    _asked(path, "rmtree")


def _asked(path: Path, question: str) -> Any:
    system, text = system_of(path)
    with told(path):
        return getattr(system, question)(text)


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; one that exists is replaced only if told to."""
    _refuse_existing(dst, overwrite)
    (source, source_path), (target, target_path) = system_of(src), system_of(dst)
    with told(src):
        if source is target:
            source.copy(source_path, target_path)
            return
        with source.open(source_path, "rb") as reading, target.open(target_path, "wb") as writing:
            shutil.copyfileobj(reading, writing)


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Move a file or directory; one that exists is replaced only if told to."""
    _refuse_existing(dst, overwrite)
    (source, source_path), (target, target_path) = system_of(src), system_of(dst)
    if source is not target:
        raise errors.UnimplementedError(None, None, f"Renaming {source_path} to {target_path} not implemented: copy it")
    with told(src):
        source.replace(source_path, target_path)


def _refuse_existing(path: Path, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def glob(pattern: Path | Sequence[Path]) -> list[str]:
    """Return the paths that fit a pattern with `*`, `?` and `[...]`, or any of several patterns.

    >>> glob("no such file*")
    []
    """
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    systems = [system_of(one) for one in patterns]
    return [path for system, text in systems for path in system.glob(text)]


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
    here = system_of(top)[1]
    inside = [name for name in names if isdir(os.path.join(here, name))]
    outside = [name for name in names if name not in set(inside)]
    if topdown:
        yield here, inside, outside
    for name in inside:
        yield from walk(os.path.join(here, name), topdown, onerror)
    if not topdown:
        yield here, inside, outside


def join(path: Path, *paths: Path) -> str:
    """Return path components put together."""
    return os.path.join(path, *paths)


def get_registered_schemes() -> list[str]:
    """Return the schemes of paths that can be opened."""
    return list(LOCAL.schemes)


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
    part = f"{system_of(filename)[1]}.tmp{secrets.token_hex(6)}"
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
