"""`tf.resource_loader`: files that lie beside the program that asks for them.

Knows frames and paths.
"""

from __future__ import annotations

import os
import sys

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _callers_directory() -> str:
    frame = sys._getframe(2)
    return os.path.dirname(os.path.abspath(frame.f_code.co_filename))


def get_data_files_path() -> str:
    """Return the directory of the file that calls this."""
    return _callers_directory()


def get_path_to_datafile(path: str) -> str:
    """Return the full path of a file given relative to the file that calls this."""
    return os.path.join(_callers_directory(), path)


def get_root_dir_with_all_resources() -> str:
    """Return the directory that holds the program's files."""
    return _callers_directory()


def load_resource(path: str) -> bytes:
    """Return the contents of a file given relative to Ebbflow's own directory."""
    full = os.path.join(PACKAGE, path)
    try:
        with open(full, "rb") as file:
            return file.read()
    except OSError as error:
        raise OSError(f"{full}: {error.strerror}") from None


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Return the path: reading ahead is the operating system's work."""
    return path
