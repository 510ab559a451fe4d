"""Showing values while a program runs: `tf.print`, `tf.Print`, and `tf.strings.format`, which makes the text.

Streams are Python's own (`sys.stderr` at the moment of printing), so what is printed turns up in notebooks and can be
redirected. A nested structure is printed as Python prints it, with values where its tensors stand. How a value becomes
text is the affair of `value_text`.
"""

from __future__ import annotations

import itertools
import pprint
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor, is_tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.ops.checks.value_text import edges, opening
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.variable_ops import find_or_make
from ebbflow.platform import files, logging

# --- making text ------------------------------------------------------------------------------------------------------

StringFormat = op(
    'StringFormat(inputs:list(T)) -> (output:string) | T: list(type) >= 0; template: string = "%s"; '
    'placeholder: string = "%s"; summarize: int = 3',
    gradient=FLAT,
    checks_first=True,
)


@StringFormat.shape
def _(inputs, *, template, placeholder):
    expected = template.count(placeholder)
    if expected != len(inputs):
        counts = f"{expected} vs. {len(inputs)}"
        raise errors.StaticShapeError(f"num placeholders in template and num inputs must match: {counts}")
    return ()


@StringFormat.kernel
def _(xp, inputs, *, template, placeholder, summarize):
    parts = template.split(placeholder)
    texts = [edges(x, summarize) for x in inputs]
    text = "".join(itertools.chain.from_iterable(itertools.zip_longest(parts, texts, fillvalue="")))
    return boxed(text.encode("utf-8", "surrogateescape"))


def boxed(text: bytes) -> np.ndarray:
    """Return one string as an array.

    >>> boxed(b"ab").shape
    ()
    """
    box = np.empty((), object)
    box[()] = text
    return box


def string_format(
    template: str | Sequence[str], inputs: Nested, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """Return `template` with each placeholder replaced by the next input, of which long dimensions are cut.

    >>> string_format("{} of {}", (1.5, [1, 2, 3])).numpy()
    b'1.5 of [1 2 3]'
    """
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    expected = template.count(placeholder)
    if expected != len(given):
        raise ValueError(
            f"{expected} placeholder(s) in template does not match {len(given)} tensor(s) provided as input"
            if context.switches.tf1
            else f"The template expects {expected} tensors, but the inputs only has {len(given)}. "
            "Please ensure the number of placeholders in template matches inputs length."
        )
    return StringFormat(given, template=template, placeholder=placeholder, summarize=summarize, name=name)


# --- printing ---------------------------------------------------------------------------------------------------------

PrintOp = op(
    'Print(input:T, data:list(U)) -> (output:T) | T: type; U: list(type) >= 0; message: string = ""; '
    "first_n: int = -1; summarize: int = 3 | stateful",
    shape=lambda input, data: input.dims,
    facts="forgets copyable",
)
PrintV2 = op(
    'PrintV2(input:string) -> () | output_stream: string = "stderr"; end: string = "\\n" | stateful',
    shape=lambda input: [],
    gradient=FLAT,
    facts="forgets copyable",
)


@PrintOp.kernel
def _(xp, input, data, *, message, first_n, summarize, run):
    if first_n >= 0:
        counted = run.node is not None and next(find_or_make((None, run.node.name, "printed"), run, itertools.count))
        if counted >= first_n:
            return input
    _write(sys.stderr, message + "".join(f"[{opening(x, summarize)}]" for x in data) + "\n")
    return input


@PrintOp.gradient
def _(call, grad):
    return [grad] + [None] * (len(call.inputs) - 1)


@PrintV2.kernel
def _(xp, input, *, output_stream, end):
    if input.ndim:
        raise invalid(f"Input is expected to be scalar, but got [{','.join(map(str, input.shape))}]")
    text = input[()].decode("utf-8", "surrogateescape") + end
    if output_stream.startswith("file://"):
        with files.told(output_stream), open(files.local(output_stream), "ab") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    elif output_stream in LEVELS:
        _log(LEVELS[output_stream], text.removesuffix("\n"))
    elif output_stream in ("stdout", "stderr"):
        _write(getattr(sys, output_stream), text)
    else:
        raise invalid(f'Unknown output stream: "{output_stream}"')
    return ()


LEVELS = {"log(info)": logging.INFO, "log(warning)": logging.WARN, "log(error)": logging.ERROR}


def _write(stream: Any, text: str) -> None:
    """Write to one of Python's streams, whatever it can encode; where there is none, nothing is lost by silence."""
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _log(level: int, text: str) -> None:
    """Log whatever the verbosity: that this is to be seen has been said by printing it."""
    logger = logging.get_logger()
    logger.handle(logger.makeRecord(logger.name, level, "tf.print", 0, text, (), None))


def Print(
    input_: TensorLike,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `input_`; the first elements of each of `data` are printed to standard error on the way.

    >>> Print([1, 2], []).numpy().tolist()
    [1, 2]
    """
    return PrintOp(input_, list(data), message=message, first_n=first_n, summarize=summarize, name=name)


def print(*inputs: Any, **kwargs: Any) -> Effect:
    """Print the inputs: text as it is, tensors with long dimensions cut, nested structures with their tensors' values.

    Returns the operation that prints, which a graph has to run; eagerly None. Keywords: `output_stream` (`sys.stdout`,
    `sys.stderr`, `tf.logging.info`, `.warning`, `.error`, or "file://PATH", to which is appended), `summarize` (how
    many entries to show at either end of a dimension, all for -1), `sep`, `end`, `name`.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    end = "\n" if end is None else end
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, Tensor) and only.dtype.base_dtype is dtypes.string and only._dims == ():
        text = only
    else:
        template, placeholder, tensors = _template(inputs, sep)
        text = StringFormat(
            tensors,
            template=template,
            placeholder=placeholder,
            summarize=-1 if summarize is None else summarize,
            name=None if name is None else f"{name}_format",
        )
    return PrintV2(text, output_stream=_stream_name(stream), end=end, name=name)


def _stream_name(stream: Any) -> str:
    known = (
        (sys.stdout, "stdout"),
        (sys.stderr, "stderr"),
        (logging.info, "log(info)"),
        (logging.warning, "log(warning)"),
        (logging.error, "log(error)"),
    )
    for one, name in known:
        if stream is one:
            return name
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, sys.stderr, "
        "tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'."
    )


class _Mark:
    """Stands for tensors in a structure being printed."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _template(inputs: tuple[Any, ...], sep: str) -> tuple[str, str, list[Any]]:
    """Return what is to be printed as a template, the placeholder in it, and the tensors that go there."""
    own_words = sep.join(_words(inputs, "", []))
    choices = itertools.chain(["{}"], (f"{{}}{n}" for n in itertools.count()))
    placeholder = next(choice for choice in choices if choice not in own_words)
    tensors: list[Any] = []
    return sep.join(_words(inputs, placeholder, tensors)), placeholder, tensors


def _words(inputs: tuple[Any, ...], placeholder: str, tensors: list[Any]) -> list[str]:
    return [i if isinstance(i, str) else pprint.pformat(_marked(i, placeholder, tensors)) for i in inputs]


def _marked(structure: Any, placeholder: str, tensors: list[Any]) -> Any:
    """Return `structure` with marks for its tensors, which are added to the list."""
    leaves = [_mark(leaf, placeholder, tensors) for leaf in nest.flatten(structure)]
    return nest.pack_sequence_as(structure, leaves)


def _mark(leaf: Any, placeholder: str, tensors: list[Any]) -> Any:
    if isinstance(leaf, CompositeTensor) and hasattr(leaf, "dense_shape"):
        shape = leaf.dense_shape
        tensors.extend([leaf.indices, leaf.values] + ([] if shape is None else [shape]))  # type: ignore[attr-defined]
        parts = f"indices={placeholder}, values={placeholder}, shape={shape if shape is None else placeholder}"
        return _Mark(f"'{type(leaf).__name__}({parts})'")
    if not is_tensor(leaf):
        return leaf
    tensors.append(leaf)
    return _Mark(placeholder)
