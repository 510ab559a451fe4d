"""`tf.load_op_library` and its kin, which loaded compiled ops. Ebbflow is Python: ops of one's own are declared in it.

Knows only that a file is there or not, because programs catch the difference.
"""

from __future__ import annotations

import os
from typing import NoReturn

from ebbflow.core import errors


def load_op_library(library_filename: str) -> NoReturn:
    """Refuse a library of compiled ops: they are TensorFlow's binary form, which Ebbflow does not have."""
    if not os.path.exists(library_filename):
        raise errors.NotFoundError(
            None, None, f"{library_filename}: cannot open shared object file: No such file or directory"
        )
    raise errors.UnimplementedError(
        None,
        None,
        f"{library_filename} is compiled for TensorFlow's C++ runtime, which Ebbflow does not have; write the op in "
        "Python, as a function of other ops with tf.custom_gradient, or with tf.numpy_function",
    )


def load_library(library_location: str) -> NoReturn:
    """Refuse a library, or a directory of them, of compiled ops."""
    load_op_library(library_location)


load_file_system_library = load_op_library
