"""LoadOptions and SaveOptions: what a caller can ask for beside the model itself."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Iterable, Iterator
from typing import Any


class VariablePolicy(enum.Enum):
    """What is written of where variables were."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    def _save_variable_devices(self) -> bool:
        return self is not VariablePolicy.NONE

    def _expand_distributed_variables(self) -> bool:
        return self is VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES

    @staticmethod
    def from_obj(obj: object) -> VariablePolicy:
        """Return the policy that a name (or None) stands for.

        >>> VariablePolicy.from_obj("save_variable_devices")
        <VariablePolicy.SAVE_VARIABLE_DEVICES: 'save_variable_devices'>
        """
        if obj is None or isinstance(obj, VariablePolicy):
            return obj or VariablePolicy.NONE
        name = str(obj).lower()
        for policy in VariablePolicy:
            if policy.value == name:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {obj}.")


class LoadOptions:
    """How a SavedModel is loaded."""

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: str | None = None,
        experimental_load_function_aliases: bool = False,
    ):
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases

    @property
    def keeps_devices(self) -> bool:
        """Whether resources go where they were."""
        return self.experimental_variable_policy._save_variable_devices()


class SaveOptions:
    """How a SavedModel is written."""

    def __init__(
        self,
        namespace_whitelist: Iterable[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: dict[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: str | None = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: object = None,
        extra_tags: Iterable[str] | None = None,
    ):
        if experimental_image_format:
            raise ValueError(
                "The option `experimental_image_format` is disabled, as it is in TensorFlow's releases: models are "
                "written as saved_model.pb, and values of any size go into the checkpoint beside it."
            )
        self.namespace_whitelist = _checked_namespaces(namespace_whitelist)
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases) if function_aliases else {}
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


def _checked_namespaces(namespaces: Iterable[str] | None) -> list[str] | None:
    if namespaces is None:
        return None
    if not isinstance(namespaces, list):
        raise TypeError(
            f"`namespace_whitelist` must be a list of strings. Got: {namespaces} with type {type(namespaces)}."
        )
    for namespace in namespaces:
        if not isinstance(namespace, str):
            raise ValueError(f"Whitelisted namespace must be a string. Got: {namespace} of type {type(namespace)}.")
    return list(namespaces)


class _Loading(threading.local):
    def __init__(self) -> None:
        self.options: list[LoadOptions | None] = []


_loading = _Loading()


@contextlib.contextmanager
def load_context(load_options: LoadOptions | None) -> Iterator[None]:
    """Have models that are loaded inside the block take these options where they are given none."""
    _loading.options.append(load_options)
    try:
        yield
    finally:
        _loading.options.pop()


def options_here() -> LoadOptions | None:
    """Return the options of the block around, if any."""
    return _loading.options[-1] if _loading.options else None
