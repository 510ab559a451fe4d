"""One string after the other out of a list (`tf.contrib.input_pipeline`), for some epochs or without end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.functions import assign
from ebbflow.state.initializers import Constant
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.tf1.input_producers import limit_epochs


def obtain_next(string_list_tensor: TensorLike, counter: Any) -> Tensor:
    """Return the string behind the one that a variable numbers, and count on; behind the last comes the first."""
    with name_scope("obtain_next"):
        strings = convert(string_list_tensor, name="list")
        following = raw.FloorMod(counter + 1, cast(raw.Size(strings), counter.dtype.base_dtype))
        return gather(strings, assign(counter, following))


def seek_next(
    string_list: Sequence[str], shuffle: bool = False, seed: int | None = None, num_epochs: int | None = None
) -> Tensor:
    """Return one string after the other, in another order each epoch if `shuffle`, until the epochs end."""
    if not string_list:
        raise ValueError("string_list must not be empty")
    chance = random.Random(seed)
    whole: list[str] = []
    for _ in range(num_epochs or 1):
        whole += chance.sample(list(string_list), len(string_list)) if shuffle else list(string_list)
    with variable_scope(None, "obtain_next"):
        counter = get_variable("obtain_next_counter", [], dtypes.int64, Constant(-1), trainable=False)
        strings = convert(whole, dtypes.string)
        if num_epochs is not None:
            strings = limit_epochs(strings, len(whole))
        return obtain_next(strings, counter)
