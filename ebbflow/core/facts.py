"""What is known of an op beyond its interface: said once, beside the op, and asked for by whoever needs it.

    Tile = op("Tile(input:T, multiples:Tmultiples) -> …", facts="fresh cheap arranges repeats=input known=multiples")

A fact is a word, or a word with a value: the names of inputs (with commas between several), a number, another word.
`Facts` lists them all and says what each means; a word that is not there is an error when the facts are first asked
for, and a test asks every op. The text is read then, not when the op is declared. Passes, engines and the runtime ask
the op (`node.op.facts.cheap`); none keeps a list of names for what is true of an op wherever it runs. How one engine
computes an op is that engine's own affair, and stands in its table of rules.
"""

from __future__ import annotations

import functools
from typing import Any


class Facts:
    """The facts of one op. What is not said is not promised.

    Not a dataclass: making one of thirty fields would take milliseconds of the first import.
    """

    # How results follow from inputs.
    elementwise: bool = False
    """Each element of the result follows from the elements at its place."""
    broadcasts: bool = False
    """Element-wise, and the inputs broadcast: a single number may stand for an array of it."""
    activation: bool = False
    """Element-wise, of one float: what nets apply to a layer's result."""
    arranges: bool = False
    """Moves or repeats numbers, or makes equal ones, and computes none."""
    folds: bool = False
    """Sums along axes, or needs such sums, in so few steps that it goes well with element-wise work around it."""
    repeats: str = ""
    """The input whose numbers the result repeats."""
    static: bool = False
    """Its small results are computed while a graph is built, where the graph decides the inputs: shapes follow."""
    bounded: bool = False
    """Its results are no larger than its inputs, though their shape may be known only with the values."""
    small: bool = False
    """Its results are small where its inputs may be large: rather keep the results."""
    data_dependent: bool = False
    """The shape of its results depends on the values of its inputs."""
    beside: bool = False
    """TensorFlow's XLA compiles it; here it runs beside what is compiled, if XLA has no lowering from us."""
    lists: bool = False
    """Works on lists of tensors."""
    loop: bool = False
    """Runs a function again and again, without effects: compiled whole, it never comes back to Python."""

    # Which values of inputs matter before it runs.
    known: tuple[str, ...] = ()
    """Inputs that say where each number comes from (axes, beginnings, paddings): code can be made for known ones."""
    sizes: tuple[str, ...] = ()
    """Inputs that say the shape of the results, and nothing else: where shapes are known nobody asks for them."""
    in_range: str = ""
    """The input whose values must be in range: the kernel finds out, compiled code must look by itself."""

    # Memory.
    memory: str = ""
    """How results relate to inputs: `fresh` memory, the `same` array, a `view`, or perhaps `shared`. Said as a word."""
    forgets: bool = False
    """It keeps state, but holds on to none of its inputs after it ran."""
    keeps: bool = False
    """What it is given lives on after the run, in the session."""

    # Cost.
    free: bool = False
    """It costs NumPy nothing, or next to nothing."""
    light: bool = False
    """A view, or arithmetic of a step or two: computed once more rather than waited for."""
    cheap: bool = False
    """It may be computed twice rather than kept, like all element-wise work."""
    heavy: bool = False
    """Products, convolutions and the like: what has an engine of its own."""
    finishes: str = ""
    """What it does to numbers of a product (`add`, or a function), which an engine may do while it has them at hand."""
    one_core: int = 0
    """It keeps one core busy and no other, for that many nanoseconds an element (a million of them, NumPy 2)."""
    matrices: bool = False
    """Decomposes matrices one by one: LAPACK keeps to one core for small ones only."""

    # State and effects.
    random: bool = False
    """Stateful only because two calls give different numbers: nobody misses a draw that nobody takes."""
    variable: bool = False
    """Gives a variable, not what is in it: it keeps state, and changes none."""
    reads: str = ""
    """Takes a variable and leaves it as it is: it gives the `whole` value, a `part`, or something about it."""
    copyable: bool = False
    """It keeps state, but may be copied into another function: it only speaks, or makes what it keeps anew there."""
    unchecked: bool = False
    """Infinities and NaN among its results mean nothing: it promises no numbers, or looks for them itself."""
    complains: bool = False
    """There for the error that it may raise, even if nobody takes its result."""
    brings: bool = False
    """It takes what its first input has next (an iterator, a queue), whatever else runs: shapes come with it."""
    waits: bool = False
    """It may wait for another node of the same run."""
    ends: bool = False
    """It may end the run because there is no more to come, also while others wait."""
    distributed_communication: bool = False
    """TensorFlow's interface says that it may talk to other machines."""

    # The kernel.
    portable: bool = False
    """The kernel serves jax.numpy too, as those of element-wise ops do."""
    host: bool = False
    """The kernel of this element-wise op computes with NumPy or SciPy only."""

    def __init__(self, **said: Any) -> None:
        self.__dict__.update(said)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"facts are declared with the op: {name} cannot be set")

    def __repr__(self) -> str:
        return f"Facts({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    @property
    def fresh(self) -> bool:
        """Whether its results never share memory with its inputs."""
        return self.memory == "fresh" or (self.elementwise and not self.memory)

    @property
    def view(self) -> bool:
        """Whether its result may be (part of) an input."""
        return self.memory == "view" or self.memory == "same"


MEMORY = ("fresh", "same", "view", "shared")
READERS = {"bool": None, "str": str, "int": int, "tuple[str, ...]": lambda text: tuple(text.split(","))}
KINDS = {name: READERS[kind] for name, kind in Facts.__annotations__.items()}


@functools.cache
def parse(text: str) -> Facts:
    """Return the facts that `text` spells out.

    >>> parse("elementwise known=begin,end").known, parse("fresh cheap").memory
    (('begin', 'end'), 'fresh')
    """
    said: dict[str, Any] = {}
    for item in text.split():
        word, has_value, value = item.partition("=")
        if word in MEMORY and not has_value:
            word, has_value, value = "memory", "=", word
        reader = KINDS.get(word, word)
        if reader is word or (reader is None) is bool(has_value) or word in said:
            raise ValueError(f"not a fact about an op: {item!r} in {text!r}")
        said[word] = True if reader is None else reader(value)  # type: ignore[operator]
    return Facts(**said)
