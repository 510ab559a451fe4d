"""Telling which construct of Python 2 stands in a line that neither language could read the file for.

Knows only text and SyntaxErrors; `files` knows where the file stops being Python 2.
"""

from __future__ import annotations

import re

from ebbflow.doors.python2 import files

CONSTRUCTS = (
    (r"^\s*print\s+[^=(\s]|^\s*print\s*$|^\s*print\s*>>|;\s*print\s+[^=(\s]", "a print statement", "print(...)"),
    (r"^\s*print\s*\(.*\)\s*%", "a print statement", "print(... % ...)"),
    (r"^\s*exec\s+[^=(\s]", "an exec statement", "exec(...)"),
    (r"\bexcept\s+[\w.()\s,]+,\s*\w+\s*:", "`except Error, name`", "except Error as name"),
    (r"^\s*raise\s+[\w.]+\s*,", "`raise Error, text`", "raise Error(text)"),
    (r"<>", "the operator <>", "!="),
    (r"`[^`]+`", "backquotes", "repr(...)"),
    (r"\b0[0-7]+\b", "an octal number such as 0777", "0o777"),
    (r"\b\d+[lL]\b", "a long number such as 10L", "10"),
    (r"\bur['\"]", "a ur'' string", "r''"),
    (
        r"\blambda\s*\(|def\s+\w+\(.*\(\s*\w+\s*,\s*\w+\s*\).*\)\s*:",
        "a tuple among the parameters",
        "one name, unpacked inside",
    ),
)
"""What Python 2 wrote, what to call it, and how Python 3 writes it."""


def construct(line: str) -> tuple[str, str] | None:
    """Return the construct of Python 2 in a line of source and its form in Python 3, if there is one.

    >>> construct("print 'loss', loss")
    ('a print statement', 'print(...)')
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", line.partition("#")[0])
    for pattern, name, now in CONSTRUCTS:
        if re.search(pattern, bare):
            return name, now
    return None


def hint_for(error: SyntaxError) -> str:
    """Return a line about Python 2 for a syntax error that comes of it: such a file has a fault in Python 2, too."""
    found = construct(error.text or "")
    if found is None and isinstance(error, TabError):
        found = ("tabs and spaces mixed", "one kind of indentation")
    if found is None:
        return ""
    name, now = found
    said = f"{error.filename}, line {error.lineno}, is Python 2: {name}, in Python 3 {now}"
    refusal = _refusal(error.filename)
    return said if refusal is None else f"{said}. But the file is not: line {refusal[0]}, {refusal[1]}"


def _refusal(name: str | None) -> tuple[int, str] | None:
    try:
        with open(name or "", "rb") as file:
            return files.refusal(file.read())
    except OSError:
        return None
