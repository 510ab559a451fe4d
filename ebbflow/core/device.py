"""Device names: `/job:worker/replica:0/task:3/device:GPU:1`, parsed, merged, matched and written.

A name is a pattern: what it leaves out may be anything. Knows names only; which devices exist, and which one a node
gets, is for the rooms that place and run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

# Types that may be written short, as `/gpu:0`; others need `/device:NAME:0`.
_short_types = {"CPU", "GPU", "TPU", "CUSTOM"}


def register_device_type(name: str) -> None:
    """Let devices of type `name` be written short, as `/name:0`."""
    _short_types.add(name.upper())
    _parse.cache_clear()


class Parts(NamedTuple):
    """The parts of a device name; None where the name does not say."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None


def parse(name: str | None) -> Parts:
    """Return the parts of a device name; ValueError if it is none.

    >>> parse("/job:ps/task:1/gpu:0")
    Parts(job='ps', replica=None, task=1, device_type='GPU', device_index=0)
    """
    if name is None:
        return Parts()
    if not isinstance(name, str):
        raise TypeError(f"A device name must be a string, not {name!r} of type {type(name).__name__}.")
    return _parse(name)


@lru_cache(maxsize=4096)
def _parse(name: str) -> Parts:
    job: str | None = None
    replica = task = index = None
    device_type: str | None = None
    for piece in filter(None, name.split("/")):
        key, *values = piece.split(":")
        short = key.upper() in _short_types and len(values) < 2
        if short or (key == "device" and len(values) == 2):
            if device_type is not None:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {name}.")
            device_type = _device_type(key.upper() if short else values[0])
            index = None if not values or values[-1] == "*" else int(values[-1])
        elif key == "job" and len(values) == 1:
            job = values[0]
        elif key == "replica" and len(values) == 1:
            replica = int(values[0])
        elif key == "task" and len(values) == 1:
            task = int(values[0])
        else:
            raise ValueError(f"Unknown attribute '{key}' is encountered while parsing the device spec: '{name}'.")
    return Parts(job, replica, task, device_type, index)


def _device_type(name: Any) -> str | None:
    if name is None:
        return None
    return str(name).upper() if name in ("cpu", "gpu") else str(name)


def to_string(parts: Parts) -> str:
    """Return the full spelling of a name; an index left open is `*`.

    >>> to_string(parse("gpu"))
    '/device:GPU:*'
    """
    pieces = []
    if parts.job is not None:
        pieces.append(f"/job:{parts.job}")
    if parts.replica is not None:
        pieces.append(f"/replica:{parts.replica}")
    if parts.task is not None:
        pieces.append(f"/task:{parts.task}")
    if parts.device_type is not None:
        index = "*" if parts.device_index is None else parts.device_index
        pieces.append(f"/device:{parts.device_type}:{index}")
    return "".join(pieces)


def merge(outer: Parts, inner: Parts) -> Parts:
    """Return what `inner` says, and where it says nothing, what `outer` says."""
    return outer._replace(**{field: value for field, value in inner._asdict().items() if value is not None})


def matches(pattern: Any, device: Any) -> bool:
    """Return whether `device` is what `pattern` asks for: equal wherever `pattern` says something.

    >>> matches("/gpu:*", "/job:localhost/replica:0/task:0/device:GPU:1"), matches("/gpu:0", "/cpu:0")
    (True, False)
    """
    wanted, given = parts_of(pattern), parts_of(device)
    return all(w is None or w == g for w, g in zip(wanted, given, strict=True))


def is_compatible(a: Any, b: Any) -> bool:
    """Return whether some device fits both names: nowhere do both say something and disagree."""
    return all(x is None or y is None or x == y for x, y in zip(parts_of(a), parts_of(b), strict=True))


def is_fully_specified(device: Any) -> bool:
    """Return whether the name leaves nothing open."""
    return None not in parts_of(device)


def parts_of(device: Any) -> Parts:
    """Return the parts of a name given as a string, a spec, its parts, or None."""
    if isinstance(device, Parts):
        return device
    return device._parts if isinstance(device, DeviceSpecV2) else parse(device)


class DeviceSpecV2:
    """A device name, maybe partial. Cannot be changed: `replace` and `make_merged_spec` make new ones."""

    __slots__ = ("_parts",)

    def __init__(
        self,
        job: str | None = None,
        replica: int | str | None = None,
        task: int | str | None = None,
        device_type: str | None = None,
        device_index: int | str | None = None,
    ) -> None:
        self._parts = Parts(
            _text(job), _number(replica), _number(task), _device_type(device_type), _number(device_index)
        )

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpecV2:
        """The spec that the name `spec` says; ValueError if it is no device name."""
        return cls(*parse(spec))

    def parse_from_string(self, spec: str | None) -> DeviceSpecV2:
        """A new spec of what the name `spec` says; this one stays as it is."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The name in full: `/job:ps/task:1/device:GPU:0`."""
        return to_string(self._parts)

    def make_merged_spec(self, dev: DeviceSpecV2) -> DeviceSpecV2:
        """A new spec: what `dev` says, and where it says nothing, what this one says."""
        return type(self)(*merge(self._parts, dev._parts))

    def replace(self, **kwargs: Any) -> DeviceSpecV2:
        """A new spec with some parts set anew."""
        return type(self)(**{**self._parts._asdict(), **kwargs})

    @property
    def job(self) -> str | None:
        """The name of the job."""
        return self._parts.job

    @property
    def replica(self) -> int | None:
        """The number of the replica."""
        return self._parts.replica

    @property
    def task(self) -> int | None:
        """The number of the task in its job."""
        return self._parts.task

    @property
    def device_type(self) -> str | None:
        """`CPU`, `GPU`, ..."""
        return self._parts.device_type

    @property
    def device_index(self) -> int | None:
        """The number of the device among those of its type in the task."""
        return self._parts.device_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        said = ", ".join(f"{field}={value}" for field, value in self._parts._asdict().items())
        return f"<DeviceSpec({said})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._parts)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _settable(field: str, convert: Callable[[Any], Any]) -> property:
    def set_field(spec: DeviceSpecV1, value: Any) -> None:
        spec._parts = spec._parts._replace(**{field: convert(value)})

    return property(lambda spec: getattr(spec._parts, field), set_field)


class DeviceSpecV1(DeviceSpecV2):
    """A device name that can be changed in place, as TensorFlow 1 had it."""

    __slots__ = ()
    __hash__ = DeviceSpecV2.__hash__

    job = _settable("job", _text)
    replica = _settable("replica", _number)
    task = _settable("task", _number)
    device_type = _settable("device_type", _device_type)
    device_index = _settable("device_index", _number)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def parse_from_string(self, spec: str | None) -> DeviceSpecV1:
        """Become what the name `spec` says; returns this spec."""
        self._parts = parse(spec)
        return self

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Take over what `dev` says; what it leaves open stays as it is."""
        self._parts = merge(self._parts, dev._parts)


DeviceSpec = DeviceSpecV2


def is_device_spec(obj: Any) -> bool:
    """Whether `obj` is a device spec, of either version."""
    return isinstance(obj, DeviceSpecV2)


def check_valid(spec: str) -> None:
    """Raise ValueError if `spec` is no device name."""
    parse(spec)


def canonical_name(device: Any) -> str:
    """Return the full spelling of a device given as a string, a spec or None.

    >>> canonical_name("/gpu:0")
    '/device:GPU:0'
    """
    return to_string(parts_of(device))


class MergeDevice:
    """The function that a `with tf.device(spec)` block applies to each node: the node's own device has the last word.

    Called with anything that has a `device`; `shortcut_string_merge` gives the name instead of the spec.
    """

    __slots__ = ("_spec",)

    def __init__(self, spec: Any) -> None:
        if isinstance(spec, DeviceSpecV2):
            self._spec = spec
        elif isinstance(spec, MergeDevice):
            self._spec = spec._spec
        else:
            self._spec = DeviceSpec.from_string(spec)

    def __call__(self, node_def: Any) -> DeviceSpecV2:
        return self._spec.make_merged_spec(DeviceSpec.from_string(node_def.device or ""))

    def shortcut_string_merge(self, node_def: Any) -> str:
        """The full name of the merged device."""
        return to_string(merge(self._spec._parts, parse(node_def.device or "")))

    @property
    def is_null_merge(self) -> bool:
        """Whether this changes nothing."""
        return not self._spec.to_string()

    def __repr__(self) -> str:
        return f"{self._spec} (MergeDevice)"


_merges: dict[Any, MergeDevice] = {}


def merge_device(spec: Any) -> MergeDevice:
    """Return the function that gives a node the device `spec`, where the node does not say otherwise itself.

    `spec` is a name, a spec or None; the same name gives the same function.
    """
    if isinstance(spec, MergeDevice):
        return spec
    if isinstance(spec, DeviceSpecV1):  # may change later: neither a key nor to be shared
        return MergeDevice(spec)
    if spec not in _merges:
        _merges[spec] = MergeDevice(spec)
    return _merges[spec]
