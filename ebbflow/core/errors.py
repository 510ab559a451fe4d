"""The error classes that programs catch: TensorFlow's codes, each with its class, message, op and node.

Knows how an error says where its node came from, and nothing of how errors arise: shape rules, kernels and sessions
raise these. `StaticShapeError` and `WrongTypeError` are also the Python errors that eager code of old expects.
"""

from __future__ import annotations

import pickle
import traceback
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ebbflow.core.typing import Message


OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


def _writable(message: Any) -> Any:
    """Return words as any file or terminal takes them: bytes that were no text (of a file's name) as `\\udcff`."""
    return message.encode("utf-8", "backslashreplace").decode() if isinstance(message, str) else message


class OpError(Exception):
    """An op failed. `error_code` says how; `op` and `node_def` say where, when a graph node did it."""

    def __init__(self, node_def: Any, op: object, message: str, error_code: int, *args: Any) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message if isinstance(message, str) and message.isascii() else _writable(message)
        self._error_code = error_code
        self._experimental_payloads: dict[Any, Any] = dict(args[0]) if args and isinstance(args[0], dict) else {}

    @property
    def message(self) -> str:
        """What went wrong, in words."""
        return self._message

    @property
    def op(self) -> Any:
        """The `tf.Operation` that failed, or None if it is not known or the op ran eagerly."""
        return self._op

    @property
    def node_def(self) -> Message | None:
        """The `NodeDef` message of the node that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The code of the error's kind: `tf.errors.INVALID_ARGUMENT`, ..."""
        return self._error_code

    @property
    def experimental_payloads(self) -> dict[Any, Any]:
        """Details that travel with the error, by key."""
        return self._experimental_payloads

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        text = [f"{self._message}\n\nOriginal stack trace for {_name(self._op)!r}:\n{_stack(self._op)}"]
        original, seen = getattr(self._op, "_original_op", None), {id(self._op)}
        while original is not None and id(original) not in seen:
            text.append(f"\n...which was originally created as op {_name(original)!r}, defined at:\n{_stack(original)}")
            seen.add(id(original))
            original = getattr(original, "_original_op", None)
        return "".join(text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._message!r})"

    def _with_state_of(self, other: OpError) -> OpError:
        self.__dict__.update(other.__dict__)
        return self

    def __copy__(self) -> OpError:
        return _bare(type(self))._with_state_of(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # A live graph op cannot travel to another process; its node can, if its message class can be found there.
        state = {**self.__dict__, "_op": None, "_node_def": _picklable(self._node_def)}
        return _bare, (type(self),), state


def _bare(cls: type[OpError]) -> OpError:
    """An error of class `cls` whose fields are still to be filled, whatever its constructor asks for."""
    return cls.__new__(cls)


def _picklable(value: Any) -> Any:
    try:
        pickle.dumps(value)
    except Exception:  # whatever a message class raises: the error itself must still travel
        return None
    return value


def _name(op: Any) -> str:
    return str(getattr(op, "name", op))


def _stack(op: Any) -> str:
    frames = getattr(op, "traceback", None)
    return "".join(traceback.format_list(frames)) if frames else ""


class _CodedError(OpError):
    """An OpError whose class fixes its code."""

    _code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self._code, *args)


class CancelledError(_CodedError):
    """The work was called off: its queue closed, its session ended, its caller gave up."""

    _code = CANCELLED


class UnknownError(_CodedError):
    """Something failed that has no code of its own here."""

    _code = UNKNOWN


class InvalidArgumentError(_CodedError):
    """An argument has a value, shape or dtype that the op does not take.

    >>> import ebbflow as tf
    >>> try:
    ...     tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    ... except InvalidArgumentError as error:
    ...     print(type(error).__name__, error.error_code == INVALID_ARGUMENT)
    InvalidArgumentError True
    """

    _code = INVALID_ARGUMENT


class DeadlineExceededError(_CodedError):
    """It took longer than it was allowed to."""

    _code = DEADLINE_EXCEEDED


class NotFoundError(_CodedError):
    """Something asked for is not there: a file, a name, a resource."""

    _code = NOT_FOUND


class AlreadyExistsError(_CodedError):
    """Something that was to be made is there already."""

    _code = ALREADY_EXISTS


class PermissionDeniedError(_CodedError):
    """The caller may not do this."""

    _code = PERMISSION_DENIED


class UnauthenticatedError(_CodedError):
    """The caller has not shown who it is."""

    _code = UNAUTHENTICATED


class ResourceExhaustedError(_CodedError):
    """Something ran out: memory, disk, a quota."""

    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_CodedError):
    """The system is not in the state this needs: a variable read before it was initialised."""

    _code = FAILED_PRECONDITION


class AbortedError(_CodedError):
    """The work was given up because of another that runs at the same time; trying again may help."""

    _code = ABORTED


class OutOfRangeError(_CodedError):
    """The end was passed: of a dataset, a queue, a file."""

    _code = OUT_OF_RANGE


class UnimplementedError(_CodedError):
    """No kernel does this for these types on this device."""

    _code = UNIMPLEMENTED


class InternalError(_CodedError):
    """A rule that ought always to hold was broken inside the system."""

    _code = INTERNAL


class UnavailableError(_CodedError):
    """The other side cannot answer just now."""

    _code = UNAVAILABLE


class DataLossError(_CodedError):
    """Data is lost or damaged beyond repair."""

    _code = DATA_LOSS


def _as_op_error(message: Any, node_def: Any, op: Any) -> tuple[Any, Any, Any]:
    """Return the arguments of `OpError`; Keras gives them in that order to make an error again with more words."""
    return (message, node_def, op) if isinstance(op, str) and not isinstance(message, str) else (node_def, op, message)


class StaticShapeError(InvalidArgumentError, ValueError):
    """Shapes that cannot fit, known before anything ran. Programs catch either of its bases."""

    when_building: str | None = None  # the words to use while a graph is built, where TensorFlow's differ

    def __init__(self, message: Any, node_def: Any = None, op: Any = None, error_code: Any = None) -> None:
        super().__init__(*_as_op_error(message, node_def, op))


class WrongTypeError(InvalidArgumentError, TypeError):
    """A dtype that the op does not take, known before anything ran. Programs catch either of its bases."""

    def __init__(self, message: Any, node_def: Any = None, op: Any = None, error_code: Any = None) -> None:
        super().__init__(*_as_op_error(message, node_def, op))


class WrongValueError(InvalidArgumentError, ValueError):
    """An attr or argument with a value the op does not have."""

    def __init__(self, message: Any, node_def: Any = None, op: Any = None, error_code: Any = None) -> None:
        super().__init__(*_as_op_error(message, node_def, op))


class ConversionError(TypeError, ValueError):
    """A value that cannot become a tensor (of the dtype asked for): TensorFlow raises now the one class, now the
    other.
    """


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator was used on a graph tensor that needs its value: `if tensor:`, `for x in tensor:`."""


class InaccessibleTensorError(TypeError, ValueError):
    """A tensor was used outside the function or graph that made it. TensorFlow has raised it as either base."""


_CLASS_OF_CODE: dict[int, type[OpError]] = {
    cls._code: cls
    for cls in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        UnauthenticatedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
    )
}
_CODE_OF_CLASS = {cls: code for code, cls in _CLASS_OF_CODE.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of errors with `error_code`; KeyError if there is none.

    >>> exception_type_from_error_code(NOT_FOUND).__name__
    'NotFoundError'
    """
    return _CLASS_OF_CODE[error_code]


def error_code_from_exception_type(cls: type) -> Any:
    """The code of the errors of class `cls`; for a class without one, an UnknownError that says so, as TensorFlow."""
    try:
        return _CODE_OF_CLASS[cls]
    except KeyError:
        warnings.warn("Unknown class exception", stacklevel=2)
        return UnknownError(None, None, "Unknown class exception", None)


def make_specific_exception(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The error for `error_code`, of its own class; UnknownError if the code has none."""
    try:
        return exception_type_from_error_code(error_code)(node_def, op, message)  # type: ignore[call-arg]
    except KeyError:
        warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
        return UnknownError(node_def, op, message, error_code)


_make_specific_exception = make_specific_exception  # as programs that reach into TensorFlow spell it


class Status:
    """How a call ended, for code that reports by filling one in: a code and a message."""

    def __init__(self) -> None:
        self.code = OK
        self.message = ""

    def set(self, code: int, message: str = "") -> None:
        """Say how it ended."""
        self.code, self.message = code, message


class raise_exception_on_not_ok_status:  # noqa: N801  (TensorFlow's name)
    """`with raise_exception_on_not_ok_status() as status:` raises at the end what the block left in `status`."""

    def __enter__(self) -> Status:
        self.status = Status()
        return self.status

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.status.code != OK:
            raise make_specific_exception(None, None, self.status.message, self.status.code)
