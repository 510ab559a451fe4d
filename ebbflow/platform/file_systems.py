"""File systems: this machine's, and those that fsspec knows (`memory://`, `s3://`, `gs://`, `https://`, …).

`system_of(path)` gives the system and the path as it takes it; both kinds answer the same few calls. Knows nothing of
TensorFlow's names for them (`platform.files`). fsspec is imported with the first path that has a scheme.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import functools
import os
import shutil
from typing import IO, Any, ClassVar

from ebbflow.core import errors

Path = Any  # str, bytes or os.PathLike


def text_of(path: Path) -> str:
    """Return a path as text."""
    text = os.fspath(path)
    return text.decode() if isinstance(text, bytes) else text


def system_of(path: Path) -> tuple[LocalFiles | RemoteFiles, str]:
    """Return the file system a path is in, and the path as that system takes it.

    >>> system_of("file:///etc/hosts")[1]
    '/etc/hosts'
    """
    text = text_of(path)
    scheme, separator, rest = text.partition("://")
    if not separator or "/" in scheme:
        return LOCAL, text
    if scheme == "file":
        return LOCAL, rest
    return _remote(scheme, text), text


class LocalFiles:
    """The files of this machine."""

    schemes = ("", "file")

    def open(self, path: str, mode: str) -> IO[bytes]:
        """Open a file for bytes."""
        return open(path, mode)

    def read(self, path: str) -> bytes:
        """Return all bytes of a file: `open` asks the system thrice as often, and each time others may take over."""
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            size = os.fstat(handle).st_size
            found = os.read(handle, size + 1)
            if len(found) == size:
                return found
            parts = [found]  # it grows, or does not know its size
            while parts[-1]:
                parts.append(os.read(handle, 1 << 20))
            return b"".join(parts)
        finally:
            os.close(handle)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def isdir(self, path: str) -> bool:
        return os.path.isdir(path)

    def listdir(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def stat(self, path: str) -> tuple[int, int, bool]:
        """Return the length, the time of change in nanoseconds, and whether it is a directory."""
        found = os.stat(path)
        return found.st_size, found.st_mtime_ns, os.path.isdir(path)

    def mkdir(self, path: str) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)

    def makedirs(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        os.remove(path)

    def rmtree(self, path: str) -> None:
        shutil.rmtree(path)

    def copy(self, src: str, dst: str) -> None:
        shutil.copyfile(src, dst)

    def replace(self, src: str, dst: str) -> None:
        os.replace(src, dst)

    def sync(self, file: Any) -> None:
        """Have the bytes written so far on the disk."""
        file.flush()
        os.fsync(file.fileno())

    def sync_directory(self, path: str) -> None:
        """Have the names in a directory on the disk."""
        try:
            handle = os.open(path or os.curdir, os.O_RDONLY)
        except OSError:  # not every system opens directories
            return
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EBADF, errno.EACCES):
                raise
        finally:
            os.close(handle)

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that fit a pattern with `*`, `?` and `[...]`."""
        head, tail = os.path.split(pattern)
        if not any(sign in pattern for sign in "*?["):
            return [pattern] if os.path.lexists(pattern) else []
        if not tail or head == pattern:
            return [os.path.join(path, "") for path in self.glob(head) if os.path.isdir(path)]
        matches = []
        for directory in self.glob(head) if head else [""]:
            with contextlib.suppress(OSError):
                names = sorted(os.listdir(directory or os.curdir))
                matches += [os.path.join(directory, name) for name in names if fnmatch.fnmatchcase(name, tail)]
        return matches


LOCAL = LocalFiles()


class RemoteFiles:
    """The files of a system that fsspec reaches. Paths keep their scheme.

    Where directories are only parts of names, as in object stores, one that was made and is still empty is remembered.
    """

    def __init__(self, system: Any, scheme: str):
        self.system, self.scheme = system, scheme
        self._made: set[str] = set()

    def _plain(self, path: str) -> str:
        return str(self.system._strip_protocol(path)).rstrip("/")

    def open(self, path: str, mode: str) -> Any:
        """Open a file for bytes."""
        if "r" in mode:
            return self.system.open(path, mode)
        if "x" in mode and self.exists(path):
            raise FileExistsError(path)
        return _Sent(self.system, path, b"" if "a" not in mode or not self.exists(path) else self.read(path))

    def read(self, path: str) -> bytes:
        """Return all bytes of a file."""
        with self.open(path, "rb") as file:
            return file.read()

    def exists(self, path: str) -> bool:
        return self._plain(path) in self._made or bool(self.system.exists(path))

    def isdir(self, path: str) -> bool:
        return self._plain(path) in self._made or bool(self.system.isdir(path))

    def listdir(self, path: str) -> list[str]:
        here = self._plain(path)
        inside = {os.path.basename(name) for name in self._made if os.path.dirname(name) == here}
        if here not in self._made or self.system.isdir(path):
            found = {name.rstrip("/") for name in self.system.ls(path, detail=False)}
            inside |= {os.path.basename(name) for name in found if self._plain(name) != here}
        return sorted(inside)

    def stat(self, path: str) -> tuple[int, int, bool]:
        """Return the length, the time of change in nanoseconds (0: unknown), and whether it is a directory."""
        if self._plain(path) in self._made:
            return 0, 0, True
        info = self.system.info(path)
        try:
            changed = int(self.system.modified(path).timestamp() * 1e9)
        except (NotImplementedError, AttributeError, KeyError, OSError):
            changed = 0
        return int(info.get("size") or 0), changed, info.get("type") == "directory"

    def mkdir(self, path: str) -> None:
        with contextlib.suppress(FileExistsError):
            self.system.mkdir(path, create_parents=False)
        self._remember(path)

    def makedirs(self, path: str) -> None:
        self.system.makedirs(path, exist_ok=True)
        self._remember(path)

    def _remember(self, path: str) -> None:
        """Remember a directory, and those above it, that the system does not show."""
        plain = self._plain(path)
        while plain and plain not in self._made and not self.system.isdir(plain):
            self._made.add(plain)
            plain = os.path.dirname(plain)

    def remove(self, path: str) -> None:
        if not self.system.exists(path):
            raise FileNotFoundError(path)
        self.system.rm_file(path)

    def rmtree(self, path: str) -> None:
        here = self._plain(path)
        self._made -= {name for name in self._made if name == here or name.startswith(f"{here}/")}
        if self.system.exists(path):
            self.system.rm(path, recursive=True)

    def copy(self, src: str, dst: str) -> None:
        self.system.cp_file(src, dst)

    def replace(self, src: str, dst: str) -> None:
        """Move a file in the place of another, or a directory."""
        if not self.system.isdir(src):
            self.system.mv(src, dst)
            return
        source, target = self._plain(src), self._plain(dst)
        for path in self.system.find(src):
            self.system.mv(path, target + path[len(source) :])
        self.rmtree(src)

    def sync(self, file: Any) -> None:
        """Have the bytes written so far in the system's hands: closing does that."""

    def sync_directory(self, path: str) -> None:
        """Names are there with their files."""

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that fit a pattern."""
        found = sorted(self.system.unstrip_protocol(path) for path in self.system.glob(pattern))
        rooted = f"{self.scheme}:///"
        if pattern.startswith(rooted):
            return found
        return [f"{self.scheme}://{path[len(rooted) :]}" if path.startswith(rooted) else path for path in found]


class _Sent:
    """A file that is written where only whole files can be: flushing sends all there is so far.

    Some systems take what is appended for a new file, so nothing is left to them.
    """

    def __init__(self, system: Any, path: str, before: bytes):
        self._system, self._path, self._at, self._news = system, path, len(before), True
        self._file = system.open(path, "wb")
        if before:
            self._file.write(before)

    def write(self, data: Any) -> int:
        """Write bytes at the end."""
        if self._file.closed:
            with self._system.open(self._path, "rb") as file:
                before = file.read()
            self._file = self._system.open(self._path, "wb")
            self._file.write(before)
        self._news = True
        count = memoryview(data).nbytes
        self._file.write(data)
        self._at += count
        return count

    def flush(self) -> None:
        """Let others see what was written."""
        if self._news:
            self._file.close()
            self._news = False

    closed = False

    def close(self) -> None:
        """Send what there is."""
        self.flush()
        self.closed = True

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return how many bytes there are."""
        return self._at

    def __enter__(self) -> _Sent:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


def _ram() -> Any:
    """Return TensorFlow's files in memory, apart from those of fsspec's `memory://`."""
    from fsspec.implementations.memory import MemoryFileSystem  # only for paths with this scheme

    class Ram(MemoryFileSystem):
        protocol = ("ram",)
        store: ClassVar[dict[str, Any]] = {}
        pseudo_dirs: ClassVar[list[str]] = [""]

        @classmethod
        def _strip_protocol(cls, path: Any) -> Any:
            return MemoryFileSystem._strip_protocol(str(path).removeprefix("ram:/"))

    return Ram()


@functools.cache
def _remote_system(scheme: str) -> RemoteFiles | None:
    try:
        import fsspec  # only for paths with a scheme

        # what others write, or this process by other ways, must be seen: no memory of listings
        system = _ram() if scheme == "ram" else fsspec.filesystem(scheme, use_listings_cache=False)
        return RemoteFiles(system, scheme)
    except (ImportError, ValueError):
        return None


def _remote(scheme: str, path: str) -> RemoteFiles:
    system = _remote_system(scheme)
    if system is None:
        raise errors.UnimplementedError(None, None, f"File system scheme '{scheme}' not implemented (file: '{path}')")
    return system
