"""`tf.data.Options`: wishes about how a dataset is run. What would change an answer is kept; what only tunes is taken
note of.

Each setting has a type and is None until it is set. Options travel with a dataset as TensorFlow's message.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

from ebbflow import messages
from ebbflow.core import errors

PROCESSES = b"python_processes"
"""Written beside the message, where processes are asked for."""


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What is done about state outside of a dataset when it is written."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How the best number of calls at once is looked for."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


_FIXED = (
    "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
    "`tf.data.Dataset.with_options(options)` to set or update dataset options."
)


class _Setting:
    """A setting of some options: its type, what it is until it is set, and its field in the message (None: without).

    A group of settings is there from when it is first asked for.
    """

    def __init__(self, kind: type, default: Any = None, field: str | None = ""):
        self.kind, self.default, self.field = kind, default, field
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        if self.field == "":
            self.field = name

    def __get__(self, options: Any, owner: type | None = None) -> Any:
        if options is None:
            return self
        values = options._values
        if issubclass(self.kind, OptionsBase) and self.name not in values:
            values[self.name] = self.kind()
            values[self.name].__dict__["_fixed"] = options._fixed
        return values.get(self.name, self.default)

    def __set__(self, options: Any, value: Any) -> None:
        if options._fixed:
            raise ValueError(_FIXED)
        if not isinstance(value, self.kind):
            raise TypeError(f'Property "{self.name}" must be of type {self.kind}, got: {value} (type: {type(value)})')
        options._values[self.name] = value


class _Own(_Setting):
    """A setting of options that a program has of its own: nothing, or what a function gives, until it is set."""

    def __init__(self, kind: type, text: str, make: Callable[[], Any]):
        super().__init__(kind, field=None)
        self.__doc__, self._make = text, make

    def __get__(self, options: Any, owner: type | None = None) -> Any:
        if options is None:
            return self
        values = options._values
        if values.get(self.name) is None:
            made = self._make()
            if made is None:
                return None
            values[self.name] = made
        return values[self.name]


def create_option(name: str, ty: type, docstring: str, default_factory: Callable[[], Any] = lambda: None) -> Any:
    """Return a setting of a type, for a class of options."""
    return _Own(ty, docstring, default_factory)


class _Alias:
    """A setting by the name it had before."""

    def __init__(self, name: str):
        self._name = name

    def __get__(self, options: Any, owner: type | None = None) -> Any:
        return self if options is None else getattr(options, self._name)

    def __set__(self, options: Any, value: Any) -> None:
        setattr(options, self._name, value)


_SIMPLE = (bool, int, str, AutoShardPolicy, ExternalStatePolicy, AutotuneAlgorithm)


class OptionsBase:
    """Named settings; a name that does not exist is refused."""

    _message: Any = None  # the name of the message

    _values: dict[str, Any]
    _fixed: bool

    def __init__(self) -> None:
        self.__dict__["_values"] = {}
        self.__dict__["_fixed"] = False

    def _set_mutable(self, mutable: bool) -> None:
        self.__dict__["_fixed"] = not mutable

    def __setattr__(self, name: str, value: Any) -> None:
        if self._fixed:
            raise ValueError(_FIXED)
        if not hasattr(type(self), name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    @classmethod
    def _settings(cls) -> dict[str, _Setting]:
        return {name: s for base in reversed(cls.__mro__) for name, s in vars(base).items() if isinstance(s, _Setting)}

    def set_values(self) -> dict[str, Any]:
        """Return what has been set."""
        found = {}
        for name, value in self._values.items():
            if isinstance(value, OptionsBase):
                found.update({f"{name}.{inner}": v for inner, v in value.set_values().items()})
            else:
                found[name] = value
        return found

    def key(self) -> Any:
        """Return what has been set, as a key."""
        return self.__dict__.get("_key") or tuple(
            [
                (
                    name,
                    value.key()
                    if isinstance(value, OptionsBase)
                    else value
                    if value.__class__ in _SIMPLE
                    else repr(value),
                )
                for name, value in self._values.items()
            ]
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._compared() == other._compared()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _compared(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._settings()}

    def __hash__(self) -> int:
        return hash(frozenset(map(str, self.set_values().items())))

    def fixed(self) -> Any:
        """Return these, which refuse to be changed from here on."""
        self.__dict__["_fixed"] = True
        for value in self._values.values():
            if isinstance(value, OptionsBase):
                value.fixed()
        return self

    def _to_proto(self) -> Any:
        made = getattr(messages, self._message)()
        for name, setting in self._settings().items():
            value = getattr(self, name)
            if setting.field is None or value is None:
                continue
            if isinstance(value, OptionsBase):
                getattr(made, setting.field).CopyFrom(value._to_proto())
            elif isinstance(value, list):
                getattr(made, setting.field).extend(value)
            else:
                setattr(made, setting.field, value.value if isinstance(value, enum.Enum) else value)
        return made

    def _from_proto(self, pb: Any) -> None:
        known = {field.name for field, _ in pb.ListFields()}
        for name, setting in self._settings().items():
            if setting.field is None or setting.field not in known:
                continue
            value = getattr(pb, setting.field)
            if issubclass(setting.kind, OptionsBase):
                getattr(self, name)._from_proto(value)
            else:
                kind: Any = setting.kind
                self._values[name] = kind(value)


def merge_options(*options_list: Any) -> Any:
    """Return options with what is set in any of these: the later ones count where they differ, lists grow."""
    if len(options_list) < 1:
        raise ValueError("At least one options should be provided")
    for options in options_list:
        if not isinstance(options, OptionsBase):
            raise TypeError(
                "All options to be merged should inherit from `OptionsBase` but found option of type "
                f"{type(options)} which does not."
            )
    made = type(options_list[0])()
    for options in options_list:
        if not isinstance(options, type(made)):
            raise TypeError(f"Could not merge incompatible options of type {type(options)} and {type(made)}.")
        for name, value in options._values.items():
            before = made._values.get(name)
            if isinstance(value, OptionsBase):
                made._values[name] = merge_options(value if before is None else before, value)
            elif isinstance(value, list) and before:
                made._values[name] = list(dict.fromkeys([*before, *value]))
            else:
                made._values[name] = value
    return made


class AutotuneOptions(OptionsBase):
    """Tuning."""

    _message = "AutotuneOptions"
    enabled = _Setting(bool)
    cpu_budget = _Setting(int)
    ram_budget = _Setting(int)
    autotune_algorithm = _Setting(AutotuneAlgorithm)
    initial_parallelism = _Setting(int)
    min_parallelism = _Setting(int)


class DistributeOptions(OptionsBase):
    """Sharing among workers."""

    _message = "DistributeOptions"
    auto_shard_policy = _Setting(AutoShardPolicy, AutoShardPolicy.AUTO)
    num_devices = _Setting(int)


class MapVectorizationOptions(OptionsBase):
    """Maps of whole batches, of TF 1."""

    enabled = _Setting(bool, field=None)
    use_choose_fastest = _Setting(bool, field=None)


class OptimizationOptions(OptionsBase):
    """Rewrites."""

    _message = "OptimizationOptions"
    apply_default_optimizations = _Setting(bool)
    filter_fusion = _Setting(bool)
    filter_parallelization = _Setting(bool)
    inject_prefetch = _Setting(bool)
    map_and_batch_fusion = _Setting(bool)
    map_and_filter_fusion = _Setting(bool)
    map_fusion = _Setting(bool)
    map_parallelization = _Setting(bool)
    noop_elimination = _Setting(bool)
    parallel_batch = _Setting(bool)
    seq_interleave_prefetch = _Setting(bool)
    shuffle_and_repeat_fusion = _Setting(bool)
    autotune = _Setting(bool, field=None)
    autotune_buffers = _Setting(bool, field=None)
    autotune_cpu_budget = _Setting(int, field=None)
    hoist_random_uniform = _Setting(bool, field=None)
    map_vectorization = _Setting(MapVectorizationOptions, field=None)


class ServiceOptions(OptionsBase):
    """Reading through a service."""

    _message = "ServiceOptions"
    pinned = _Setting(bool)


class ThreadingOptions(OptionsBase):
    """Threads."""

    _message = "ThreadingOptions"
    max_intra_op_parallelism = _Setting(int)
    private_threadpool_size = _Setting(int)


class StatsOptions(OptionsBase):
    """Statistics, of TF 1."""

    aggregator = _Setting(object, field=None)
    prefix = _Setting(str, "", field=None)
    counter_prefix = _Setting(str, "", field=None)
    latency_all_edges = _Setting(bool, field=None)


class Options(OptionsBase):
    """Wishes about how a dataset is run."""

    _message = "Options"
    autotune = _Setting(AutotuneOptions, field="autotune_options")
    dataset_name = _Setting(str)
    deterministic = _Setting(bool)
    experimental_deterministic = _Alias("deterministic")
    experimental_distribute = _Setting(DistributeOptions, field="distribute_options")
    experimental_external_state_policy = _Setting(ExternalStatePolicy, field="external_state_policy")
    experimental_optimization = _Setting(OptimizationOptions, field="optimization_options")
    experimental_python_processes = _Setting(bool, field=None)  # ours: functions in Python may run in own processes
    experimental_service = _Setting(ServiceOptions, field="service_options")
    experimental_slack = _Setting(bool, field="slack")
    experimental_symbolic_checkpoint = _Setting(bool, field="symbolic_checkpoint")
    experimental_warm_start = _Setting(bool, field="warm_start")
    framework_type = _Setting(list)
    threading = _Setting(ThreadingOptions, field="threading_options")
    experimental_threading = _Alias("threading")
    experimental_autotune = _Setting(bool, field=None)  # of TF 1
    experimental_stats = _Setting(StatsOptions, field=None)

    def merge(self, options: Options) -> Options:
        """Return these options with those that are set in `options` over them."""
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be tf.data.Options, got {type(options).__name__}: {options!r}")
        merged: Options = merge_options(self, options)
        return merged

    def serialized(self) -> bytes:
        """Return what is set, as a message."""
        key = self.key()
        if key not in _texts:
            if len(_texts) > KEPT:
                _texts.clear()
            _texts[key] = self._to_proto().SerializeToString()
        return _texts[key]

    def with_set(self, options: Options) -> Options:
        """Return `merge`d options, which nobody may change: others who ask for the same get the same."""
        if not isinstance(options, Options):
            return self.merge(options)
        key = self.key(), options.key()
        if key not in _merged:
            if len(_merged) > KEPT:
                _merged.clear()
            _merged[key] = self.merge(options)
            _merged[key].__dict__["_key"] = _merged[key].key()
        return _merged[key]

    @classmethod
    def parsed(cls, text: bytes, note: bytes = b"") -> Options:
        """Return the options that a message says, and a note about what it has no field for."""
        made = cls()
        made._from_proto(messages.parse(messages.Options, text, "serialized_options", errors.InvalidArgumentError))
        if note == PROCESSES:
            made.experimental_python_processes = True
        return made


KEPT = 64
"""Messages of options that are remembered: programs make the same datasets over and over."""

_texts: dict[Any, bytes] = {}
_merged: dict[Any, Options] = {}


@functools.lru_cache(KEPT)
def known(text: bytes, note: bytes = b"") -> Options:
    """Return the options that a message says; nobody may change them."""
    found = Options.parsed(text, note)
    found.__dict__["_key"] = found.key()
    return found
