"""TensorFlow's protocol messages: `messages.GraphDef`, `messages.Summary.Value`, `messages.enum("DataType")`.

Knows the schema (`schema.txt`) and how messages become bytes and text and come back. Knows nothing of what is in them:
`messages.tensors` turns arrays, shapes and attrs into messages, the rooms above do the rest. Protobuf is imported with
the first message used, never before, and the classes live in a private pool, so that an installed TensorFlow and
this package do not get in each other's way; where Ebbflow stands in for TensorFlow (`stand_in`), in protobuf's default
pool, where programs' own messages find them. Messages of two pools do not mix; cross with bytes.

>>> from ebbflow import messages
>>> node = messages.NodeDef(name="a", op="Const")
>>> messages.parse(messages.NodeDef, messages.serialize(node)).op
'Const'
"""

from __future__ import annotations

import typing  # `Any` is a message here

from ebbflow.core import errors, forks

if typing.TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
    from google.protobuf.message import Message

    MessageType = typing.TypeVar("MessageType", bound=Message)

LARGEST_MESSAGE = 2**31 - 1  # bytes; protobuf's own limit

_building = forks.rlock()
_loaded: tuple[typing.Any, typing.Any] | None = None  # the schema and its pool, once they are needed
_standing_in = False  # for TensorFlow, in this process

when_made: dict[str, typing.Callable[[type[Message]], None]] = {}
"""Full name of a message -> what a room above does to its class, once, before anybody gets it."""


def pool() -> DescriptorPool:
    """The descriptor pool of these messages, for protobuf functions that ask for one."""
    return _schema_and_pool()[1]


def stand_in() -> None:
    """Have the messages made in protobuf's default pool, unless some are made already: there is no other TensorFlow."""
    global _standing_in
    _standing_in = True


def publish() -> None:
    """See to it that files of a program's own messages may import TensorFlow's from protobuf's default pool."""
    from google.protobuf import descriptor_pool  # on first use

    table, ours = _schema_and_pool()
    if ours is not descriptor_pool.Default():  # made before anybody knew
        from ebbflow.messages import schema

        schema.fill_pool(descriptor_pool.Default(), table)


def message(full_name: str) -> type[Message]:
    """The class of a message by its full name, such as `tensorflow.tfprof.OpLogProto` or `google.protobuf.Any`."""
    from google.protobuf import message_factory  # on first use: protobuf takes about 30 ms to import

    with _building:
        cls = message_factory.GetMessageClass(pool().FindMessageTypeByName(full_name))
        for nested in cls.DESCRIPTOR.nested_types:
            if not hasattr(cls, nested.name):  # protobuf without its C extension leaves them out
                setattr(cls, nested.name, message(nested.full_name))
        if full_name in when_made:
            when_made.pop(full_name)(cls)
    return cls


def enum(name: str) -> EnumTypeWrapper:
    """An enum with `Name(number)`, `Value(name)` and `items()`; `name` is relative to the package `tensorflow`.

    >>> enum("DataType").Name(1)
    'DT_FLOAT'
    """
    from google.protobuf.internal import enum_type_wrapper  # on first use

    with _building:
        return enum_type_wrapper.EnumTypeWrapper(pool().FindEnumTypeByName("tensorflow." + name))


def names() -> list[str]:
    """The messages this module has as attributes."""
    return sorted(_top_level())


def top_level_enums() -> dict[str, list[str]]:
    """The enums that are nested in no message: their full names, and the names of their values."""
    return _schema_and_pool()[0].enums


def serialize(msg: Message) -> bytes:
    """The message's bytes, the same ones every time: entries of maps come out sorted by key."""
    from google.protobuf.message import EncodeError  # on first use

    try:
        data = msg.SerializeToString(deterministic=True)
    except (EncodeError, ValueError) as e:
        if msg.ByteSize() <= LARGEST_MESSAGE:
            raise
        raise errors.InvalidArgumentError(None, None, _too_large(type(msg), msg.ByteSize())) from e
    if len(data) > LARGEST_MESSAGE:
        raise errors.InvalidArgumentError(None, None, _too_large(type(msg), len(data)))
    return data


def parse(cls: type[MessageType], data: bytes, what: str = "", error: type = errors.DataLossError) -> MessageType:
    """The message that `data` holds; `what` (a file name, an argument) names its origin in the `error` otherwise."""
    from google.protobuf.message import DecodeError  # on first use

    if len(data) > LARGEST_MESSAGE:
        raise error(None, None, _too_large(cls, len(data)) + _of(what))
    try:
        return cls.FromString(data)
    except (DecodeError, UnicodeDecodeError) as e:
        name = cls.DESCRIPTOR.full_name
        raise error(None, None, f"{len(data)} bytes are not a valid {name} message{_of(what)}: {e}") from e


def to_text(msg: Message) -> str:
    """The message in protobuf's text form, as in `.pbtxt` files."""
    from google.protobuf import text_format  # on first use

    return text_format.MessageToString(msg, descriptor_pool=pool())


def parse_text(text: str | bytes, cls: type[MessageType], what: str = "") -> MessageType:
    """The message of class `cls` that `text` describes; `what` names its origin in an error."""
    from google.protobuf import text_format  # on first use

    try:
        return text_format.Parse(text, cls(), descriptor_pool=pool())
    except (text_format.ParseError, UnicodeDecodeError) as e:
        name = cls.DESCRIPTOR.full_name
        raise errors.InvalidArgumentError(None, None, f"not the text of a {name} message{_of(what)}: {e}") from e


def __getattr__(name: str) -> typing.Any:
    # Messages are capitalised; a small letter is a module of this package, about to be imported: protobuf can wait.
    full_name = _top_level().get(name) if name[:1].isupper() else None
    if full_name is None:
        raise AttributeError(f"module {__name__!r} has no attribute or message {name!r}")
    cls = globals()[name] = message(full_name)  # kept, so that the next use finds it at once
    return cls


def __dir__() -> list[str]:
    return sorted({*globals(), *_top_level()})


def _schema_and_pool() -> tuple[typing.Any, DescriptorPool]:
    global _loaded
    if _loaded is None:
        with _building:
            if _loaded is None:
                from ebbflow.messages import schema  # on first use: it imports protobuf

                table = schema.read_schema()
                _loaded = table, schema.make_pool(table, shared=_standing_in)
    return _loaded


def _top_level() -> dict[str, str]:
    return _schema_and_pool()[0].top_level


def _too_large(cls: type[Message], size: int) -> str:
    return f"a {cls.DESCRIPTOR.full_name} of {size} bytes is larger than the 2 GB a protocol message may have"


def _of(what: str) -> str:
    return f" in {what}" if what else ""
