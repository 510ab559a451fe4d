"""Command-line flags, for programs that define them with `tf.flags` and bring no flag library of their own.

Defining, parsing, reading, validating and listing flags, in the manner of TensorFlow 1: `--name=value`,
`--name value`, `--noname`, one dash or two, `--flagfile`, and values parsed on the first read. Knows nothing of
TensorFlow. `flags` decides whether this or absl serves.
"""

from __future__ import annotations

import csv
import difflib
import enum
import functools
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any


class Error(Exception):
    """Something is wrong with a flag."""


class DuplicateFlagError(Error):
    """A flag is defined twice."""


class IllegalFlagValueError(Error):
    """A flag's value cannot be what it says."""


class UnrecognizedFlagError(Error):
    """The command line has a flag that nobody defined."""

    def __init__(self, flagname: str, flagvalue: str = "", suggestions: Sequence[str] = ()) -> None:
        self.flagname, self.flagvalue = flagname, flagvalue
        tip = f" Did you mean: {', '.join(suggestions)} ?" if suggestions else ""
        super().__init__(f"Unknown command line flag '{flagname}'.{tip}")


class UnparsedFlagAccessError(Error):
    """A flag is read before the command line was."""


class ValidationError(Error):
    """A validator refused a flag's value."""


class CantOpenFlagFileError(Error):
    """The file given as --flagfile cannot be read."""


# Parsers: text (or a value given in the program) in, the flag's value out.


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        lower = value.lower()
        if lower in ("true", "t", "1"):
            return True
        if lower in ("false", "f", "0"):
            return False
    elif value in (0, 1):
        return bool(value)
    raise ValueError("Non-boolean argument to boolean flag")


def _number(kind: type, lower: float | None, upper: float | None) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:
        if kind is int and isinstance(value, str):
            text = value.strip().lower()
            number: Any = int(text, 16 if text.lstrip("+-").startswith("0x") else 10)
        elif kind is int and (isinstance(value, float) or not hasattr(value, "__index__")):
            raise TypeError(f"Expect argument to be a string or int, found {type(value)}")
        else:
            number = kind(value)
        if (lower is not None and number < lower) or (upper is not None and number > upper):
            raise ValueError(f"{number} is not in [{'' if lower is None else lower}, {'' if upper is None else upper}]")
        return number

    return parse


def _one_of(choices: Iterable[str], case_sensitive: bool = True) -> Callable[[Any], str]:
    allowed = list(choices)

    def parse(value: Any) -> str:
        for choice in allowed:
            if value == choice or (not case_sensitive and str(value).lower() == choice.lower()):
                return choice
        raise ValueError(f"value should be one of <{'|'.join(allowed)}>")

    return parse


def _enum_member(enum_class: type[enum.Enum], case_sensitive: bool = True) -> Callable[[Any], enum.Enum]:
    def parse(value: Any) -> enum.Enum:
        if isinstance(value, enum_class):
            return value
        for name, member in enum_class.__members__.items():
            if value == name or (not case_sensitive and str(value).lower() == name.lower()):
                return member
        raise ValueError(f"value should be one of <{'|'.join(enum_class.__members__)}>")

    return parse


def _comma_list(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return list(value)
    return [word.strip() for word in next(csv.reader([value], strict=True))] if value else []


def _space_list(value: Any) -> list[str]:
    return list(value) if isinstance(value, (list, tuple)) else (value or "").split()


class Flag:
    """One flag: its parser, its help, its default and its value now."""

    def __init__(
        self,
        name: str,
        default: Any,
        help: str | None,
        parser: Callable[[Any], Any] = _text,
        short_name: str | None = None,
        multi: bool = False,
        boolean: bool = False,
        module: str = "",
        allow_override: bool = False,
    ) -> None:
        self.name, self.help, self.parser, self.short_name = name, help or "(no help available)", parser, short_name
        self.multi, self.boolean, self.module, self.allow_override = multi, boolean, module, allow_override
        self.present = 0
        self.validators: list[Callable[[], None]] = []
        self.set_default(default)

    def parse(self, text: Any) -> Any:
        """Return the value that `text` (or a list of texts, for a multi flag) stands for."""
        if text is None:
            return None
        try:
            if self.multi:
                return [self.parser(item) for item in (text if isinstance(text, (list, tuple)) else [text])]
            return self.parser(text)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {error}") from None

    def set_default(self, default: Any) -> None:
        """Give the flag another default, and that value where the command line gave none."""
        self.default = self.parse(default)
        if not self.present:
            self.value = self.default

    def take(self, text: str) -> None:
        """Take one occurrence on the command line."""
        parsed = self.parse(text)
        self.value = (self.value if self.present else []) + parsed if self.multi else parsed
        self.present += 1

    def forget(self) -> None:
        """Go back to the default, as if the command line had not been read."""
        self.present, self.value = 0, self.default

    def serialize(self) -> str:
        """Return the flag as it would be written on a command line."""
        if self.value is None:
            return ""
        if self.boolean:
            return f"--{'' if self.value else 'no'}{self.name}"
        values = self.value if isinstance(self.value, list) else [self.value]
        texts = [value.name if isinstance(value, enum.Enum) else str(value) for value in values]
        return (
            "\n".join(f"--{self.name}={text}" for text in texts) if self.multi else f"--{self.name}={','.join(texts)}"
        )


class FlagHolder:
    """What `DEFINE_*` returns: the flag's value under `.value`."""

    def __init__(self, flags: FlagValues, name: str) -> None:
        self._flags, self._name = flags, name

    name = property(lambda self: self._name)
    value = property(lambda self: getattr(self._flags, self._name))
    default = property(lambda self: self._flags[self._name].default)
    present = property(lambda self: self._flags[self._name].present)

    def __bool__(self) -> bool:
        raise TypeError(f"bool() of the holder of flag --{self._name}: use its .value")


class FlagValues:
    """All flags of a program: `FLAGS.name` reads one, and reads the command line first if nobody has."""

    def __init__(self) -> None:
        here = self.__dict__
        here["_all"], here["_short"], here["_parsed"], here["_gnu"] = {}, {}, False, True

    # -- defining

    def define(self, flag: Flag) -> FlagHolder:
        """Add a flag; a second one of the same name is an error unless either allows it."""
        for name in filter(None, (flag.name, flag.short_name)):
            old = self._all.get(name) or self._short.get(name)
            if old is not None and not (old.allow_override or flag.allow_override):
                raise DuplicateFlagError(
                    f"The flag '{name}' is defined twice. First from {old.module}, Second from {flag.module}.  "
                    f"Description from first occurrence: {old.help}"
                )
        self._all[flag.name] = flag
        if flag.short_name:
            self._short[flag.short_name] = flag
        return FlagHolder(self, flag.name)

    def __setitem__(self, name: str, flag: Flag) -> None:
        self._all[name] = flag

    def __getitem__(self, name: str) -> Flag:
        return self._all[name] if name in self._all else self._short[name]

    def __delattr__(self, name: str) -> None:
        if name not in self._all:
            raise AttributeError(name)
        flag = self._all.pop(name)
        self._short.pop(flag.short_name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._all or name in self._short

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all))

    def __len__(self) -> int:
        return len(self._all)

    def __dir__(self) -> list[str]:
        return sorted([*self._all, *dir(type(self))])

    # -- values

    def __getattr__(self, name: str) -> Any:
        flag = self._all.get(name) or self._short.get(name)
        if flag is None:
            if name == "__flags":  # TensorFlow before 1.5; programs loop over it to print their settings
                return self.flag_values_dict()
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        return flag.value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self:
            raise AttributeError(name)
        flag = self[name]
        flag.value = value
        flag.present += 1
        _check(flag)

    def get_flag_value(self, name: str, default: Any) -> Any:
        """Return a flag's value, or `default` where it has none."""
        value = getattr(self, name)
        return default if value is None else value

    def flag_values_dict(self) -> dict[str, Any]:
        """Return all flags and their values."""
        return {name: getattr(self, name) for name in self._all}

    def set_default(self, name: str, value: Any) -> None:
        """Give a flag another default."""
        if name not in self:
            raise UnrecognizedFlagError(name)
        self[name].set_default(value)

    def is_parsed(self) -> bool:
        """Return whether the command line has been read."""
        return self._parsed

    def mark_as_parsed(self) -> None:
        """Say that flags may be read as they are."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self) -> None:
        """Forget the command line."""
        for flag in self._all.values():
            flag.forget()
        self.__dict__["_parsed"] = False

    def set_gnu_getopt(self, gnu_getopt: bool = True) -> None:
        """Say whether flags may stand after the first plain argument."""
        self.__dict__["_gnu"] = gnu_getopt

    # -- the command line

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Read the flags of a command line and return what is left of it, the program's name first."""
        if isinstance(argv, str):
            raise TypeError("argv should be a tuple/list of strings, not bytes or string.")
        rest = [*argv[:1], *self._read(_with_flagfiles(list(argv[1:])), known_only)]
        self.mark_as_parsed()
        for flag in self._all.values():
            _check(flag)
        return rest

    def _parse_flags(self, args: Sequence[str] | None = None) -> list[str]:
        return self(sys.argv if args is None else [sys.argv[0], *args], known_only=True)

    def _read(self, words: list[str], known_only: bool) -> list[str]:
        rest: list[str] = []
        waiting = iter(words)
        for word in waiting:
            if word == "--":
                return [*rest, *([word] if known_only else []), *waiting]
            if not word.startswith("-") or word == "-":
                rest.append(word)
                if not self._gnu:
                    return [*rest, *waiting]
                continue
            name, equals, text = word.lstrip("-").partition("=")
            flag, negated = self._find(name)
            if flag is None:
                if not known_only:
                    raise UnrecognizedFlagError(name, text, difflib.get_close_matches(name, self._all, n=3))
                rest.append(word)
            elif flag.boolean:
                flag.take(text if equals else "false" if negated else "true")
            else:
                given = text if equals else next(waiting, None)
                if given is None:
                    raise Error(f"Missing value for flag {word}")
                flag.take(given)
        return rest

    def _find(self, name: str) -> tuple[Flag | None, bool]:
        flag = self._all.get(name) or self._short.get(name)
        if flag is None and name.startswith("no"):
            other = self._all.get(name[2:]) or self._short.get(name[2:])
            if other is not None and other.boolean:
                return other, True
        return flag, False

    # -- lists of flags

    def flags_into_string(self) -> str:
        """Return all flags as lines of a flag file."""
        return "".join(f"{text}\n" for name in self if (text := self._all[name].serialize()))

    def flags_by_module_dict(self) -> Mapping[str, list[Flag]]:
        """Return the flags each module defined."""
        found: dict[str, list[Flag]] = {}
        for name in self:
            found.setdefault(self._all[name].module, []).append(self._all[name])
        return found

    def find_module_defining_flag(self, flagname: str, default: Any = None) -> Any:
        """Return the module that defined a flag."""
        return self[flagname].module if flagname in self else default

    def get_help(self, prefix: str = "", include_special_flags: bool = True) -> str:
        """Return the help of every flag, by module."""
        lines = []
        for module, flags in self.flags_by_module_dict().items():
            lines.append(f"\n{prefix}{module}:")
            for flag in flags:
                no = "[no]" if flag.boolean else ""
                short = f"-{flag.short_name}," if flag.short_name else ""
                lines.append(
                    textwrap.indent(textwrap.fill(f"{short}--{no}{flag.name}: {flag.help}", 74), prefix + "  ")
                )
                lines.append(f"{prefix}    (default: {flag.default!r})")
        return "\n".join(lines)

    main_module_help = get_help


def _with_flagfiles(words: list[str]) -> list[str]:
    found: list[str] = []
    waiting = iter(words)
    for word in waiting:
        name, equals, path = word.lstrip("-").partition("=")
        if not word.startswith("-") or name != "flagfile":
            found.append(word)
            if word == "--":
                return [*found, *waiting]
            continue
        path = os.path.expanduser(path if equals else next(waiting, ""))
        try:
            with open(path, encoding="utf-8") as file:
                lines = [line.strip() for line in file]
        except OSError as error:
            raise CantOpenFlagFileError(f"ERROR:: Unable to open flagfile: {path}: {error.strerror}") from None
        found += _with_flagfiles([line for line in lines if line and not line.startswith(("#", "//"))])
    return found


def _check(flag: Flag) -> None:
    for validator in flag.validators:
        validator()


FLAGS = FlagValues()


def _module() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    name = frame.f_globals.get("__name__", "")
    return sys.argv[0] if name == "__main__" else name


def _definer(parser: Callable[[Any], Any], what: str = "a value", **facts: Any) -> Callable[..., FlagHolder]:
    def DEFINE(
        name: str,
        default: Any,
        help: str | None = None,
        flag_values: FlagValues = FLAGS,
        required: bool = False,
        **more: Any,
    ) -> FlagHolder:
        short = more.get("short_name")
        flag = Flag(name, default, help, parser, short, module=_module(), **facts)
        flag.allow_override = bool(more.get("allow_override"))
        holder = flag_values.define(flag)
        if required:
            mark_flag_as_required(name, flag_values)
        return holder

    DEFINE.__doc__ = f"Define a flag that holds {what}; return what reads its value."
    return _old_names(DEFINE)


def _old_names(define: Callable[..., FlagHolder]) -> Callable[..., FlagHolder]:
    renamed = {"flag_name": "name", "default_value": "default", "docstring": "help"}

    @functools.wraps(define)
    def DEFINE(*args: Any, **kwargs: Any) -> FlagHolder:
        return define(*args, **{renamed.get(key, key): value for key, value in kwargs.items()})

    return DEFINE


DEFINE_string = _definer(_text, "a text")
DEFINE_boolean = DEFINE_bool = _definer(_boolean, "True or False", boolean=True)
DEFINE_list = _definer(_comma_list, "texts, written with commas between them")
DEFINE_spaceseplist = _definer(_space_list, "texts, written with spaces between them")
DEFINE_multi_string = _definer(_text, "a list of texts: the flag may be given several times", multi=True)


def _bounded(kind: type, multi: bool) -> Callable[..., FlagHolder]:
    def DEFINE(
        *args: Any, lower_bound: float | None = None, upper_bound: float | None = None, **kwargs: Any
    ) -> FlagHolder:
        positional = list(args)
        if len(positional) > 3:  # name, default, help, lower_bound, upper_bound
            lower_bound, upper_bound, *_ = [*positional[3:], upper_bound]
        return _definer(_number(kind, lower_bound, upper_bound), multi=multi)(*positional[:3], **kwargs)

    number = "an integer" if kind is int else "a number"
    again = ", or several: the flag may be given more than once" if multi else ""
    DEFINE.__doc__ = f"Define a flag that holds {number} between two bounds{again}; return what reads its value."
    return DEFINE


DEFINE_integer = _bounded(int, multi=False)
DEFINE_float = _bounded(float, multi=False)
DEFINE_multi_integer = DEFINE_multi_int = _bounded(int, multi=True)
DEFINE_multi_float = _bounded(float, multi=True)


def DEFINE_enum(
    name: str, default: Any, enum_values: Iterable[str], help: str | None = None, **kwargs: Any
) -> FlagHolder:
    """Define a flag whose value is one of some words."""
    return _definer(_one_of(enum_values, kwargs.pop("case_sensitive", True)))(name, default, help, **kwargs)


def DEFINE_multi_enum(
    name: str, default: Any, enum_values: Iterable[str], help: str | None = None, **kwargs: Any
) -> FlagHolder:
    """Define a flag that may be given several times, each time one of some words."""
    parser = _one_of(enum_values, kwargs.pop("case_sensitive", True))
    return _definer(parser, multi=True)(name, default, help, **kwargs)


def DEFINE_enum_class(
    name: str, default: Any, enum_class: type[enum.Enum], help: str | None = None, **kwargs: Any
) -> FlagHolder:
    """Define a flag whose value is a member of an enum."""
    return _definer(_enum_member(enum_class, kwargs.pop("case_sensitive", False)))(name, default, help, **kwargs)


def DEFINE_alias(name: str, original_name: str, flag_values: FlagValues = FLAGS, **kwargs: Any) -> None:
    """Let a flag be written under a second name."""
    flag_values._short[name] = flag_values[original_name]


def DEFINE_flag(flag: Flag, flag_values: FlagValues = FLAGS, **kwargs: Any) -> FlagHolder:
    """Add a flag made by hand."""
    return flag_values.define(flag)


def register_validator(
    flag_name: str,
    checker: Callable[[Any], bool],
    message: str = "Flag validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:
    """Have a flag's value checked when the command line is read and when the flag is set."""
    flag = flag_values[flag_name]

    def check() -> None:
        if not checker(flag.value):
            raise IllegalFlagValueError(f"flag --{flag_name}={flag.value}: {message}")

    flag.validators.append(check)


def validator(
    flag_name: str, message: str = "Flag validation failed", flag_values: FlagValues = FLAGS
) -> Callable[..., Any]:
    """Decorate a function that checks a flag's value."""

    def decorate(function: Callable[[Any], bool]) -> Callable[[Any], bool]:
        register_validator(flag_name, function, message, flag_values)
        return function

    return decorate


def register_multi_flags_validator(
    flag_names: Sequence[str],
    multi_flags_checker: Callable[[dict[str, Any]], bool],
    message: str = "Flags validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:
    """Have several flags checked together."""

    def check() -> None:
        values = {name: flag_values[name].value for name in flag_names}
        if not multi_flags_checker(values):
            shown = ", ".join(f"{name}={value}" for name, value in values.items())
            raise IllegalFlagValueError(f"flags {shown}: {message}")

    for name in flag_names:
        flag_values[name].validators.append(check)


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """Refuse a command line that leaves this flag without a value."""
    message = f"Flag --{flag_name} must have a value other than None."
    register_validator(flag_name, lambda value: value is not None, message, flag_values)


def mark_flags_as_required(flag_names: Sequence[str], flag_values: FlagValues = FLAGS) -> None:
    """Refuse a command line that leaves any of these flags without a value."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(
    flag_names: Sequence[str], required: bool = False, flag_values: FlagValues = FLAGS
) -> None:
    """Allow only one of these flags to have a value."""

    def one(values: dict[str, Any]) -> bool:
        given = sum(value is not None for value in values.values())
        return given == 1 or (not required and given == 0)

    words = (
        f"{'Exactly' if required else 'At most'} one of ({', '.join(flag_names)}) must have a value other than None."
    )
    register_multi_flags_validator(flag_names, one, words, flag_values)


def declare_key_flag(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """Say that a flag matters to this module; help lists every flag, so nothing is to be done."""


def adopt_module_key_flags(module: Any, flag_values: FlagValues = FLAGS) -> None:
    """Say that another module's flags matter to this one; help lists every flag, so nothing is to be done."""


def set_default(flag_holder: FlagHolder, value: Any) -> None:
    """Give a flag another default."""
    flag_holder._flags.set_default(flag_holder.name, value)
