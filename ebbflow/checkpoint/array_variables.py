"""Variables to and from plain files of arrays: `.npz` (NumPy) and `.safetensors`.

    export_variables("weights.safetensors", model.variables)
    import_variables("weights.safetensors", model.variables)

Names are the variables' own, or the keys of a dictionary. The formats are `io/array_files.py`'s.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.typing import PathLike
from ebbflow.io.array_files import check_ending, read_arrays, write_arrays
from ebbflow.platform import files


def export_variables(path: PathLike, variables: Iterable[Any]) -> None:
    """Write the values of eager variables (a list, or a dictionary by name) to a `.npz` or `.safetensors` file."""
    path = files.text_of(path)
    check_ending(path)
    write_arrays(path, {name: variable.numpy() for name, variable in _by_name(variables).items()})


def import_variables(path: PathLike, variables: Iterable[Any]) -> None:
    """Give eager variables the values of a `.npz` or `.safetensors` file; differences are told before any is set."""
    named, path = _by_name(variables), files.text_of(path)
    arrays = read_arrays(path)
    values = {name: _as_dtype(arrays[name], v.dtype.base_dtype) for name, v in named.items() if name in arrays}
    wrong = []
    for name, variable in named.items():
        wrong += _differences(name, variable, values[name]) if name in values else [_missing(name, arrays)]
    if wrong:
        extra = sorted(set(arrays) - set(named))
        raise errors.InvalidArgumentError(
            None, None, f"{path} does not fit the variables: {'; '.join(wrong)}. Not asked for: {extra[:20]}"
        )
    for name, variable in named.items():
        variable.assign(convert(values[name]))


def _missing(name: str, arrays: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, arrays, 1)
    return f"{name} is missing" + (f" (the file has {near[0]})" if near else "")


def _differences(name: str, variable: Any, array: np.ndarray) -> list[str]:
    wrong = []
    if not variable.shape.is_compatible_with(array.shape):
        wrong.append(f"{name} has shape {list(array.shape)} in the file, {variable.shape} in the program")
    if array.dtype != variable.dtype.base_dtype.np:
        wrong.append(f"{name} is {array.dtype} in the file, {variable.dtype.base_dtype.name} in the program")
    return wrong


def _as_dtype(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Return an array of a `.npz` as what the variable is, where NumPy's format has no name for that."""
    if array.dtype.kind == "V" and array.dtype.names is None and array.itemsize == dtype.np.itemsize:
        return array.view(dtype.np)
    return array.astype(object) if dtype is dtypes.string and array.dtype.kind == "S" else array


def _by_name(variables: Any) -> dict[str, Any]:
    if isinstance(variables, Mapping):
        return dict(variables)
    named: dict[str, Any] = {}
    for variable in variables:
        if variable._shared_name in named:
            raise errors.InvalidArgumentError(
                None, None, f"Two variables are called {variable._shared_name}: pass a dictionary by name"
            )
        named[variable._shared_name] = variable
    return named
