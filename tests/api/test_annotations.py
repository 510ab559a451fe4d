"""Every public function says what it takes, what it returns and what it does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from ebbflow.api import views
from ebbflow.api.namespace import resolve


def public_functions() -> Iterator[tuple[str, Any]]:
    """Yield the functions of Ebbflow's own that the tables name, each once, by the first of its names."""
    seen = set()
    for key in views.DOORS:
        for name, target in views.names_of(key).items():
            if target.startswith(views.OTHER_PACKAGES):
                continue
            value = resolve(target)
            if not inspect.isfunction(value) or not value.__module__.startswith("ebbflow.") or id(value) in seen:
                continue
            seen.add(id(value))
            yield f"{key} tf.{name} ({target})", value


def unannotated(function: Any) -> list[str]:
    """Return the arguments that have no annotation, and "return" where the result has none."""
    function = inspect.unwrap(function)
    parameters = inspect.signature(function).parameters
    return [name for name in [*parameters, "return"] if name not in function.__annotations__]


def test_what_lacks_an_annotation_is_found():
    def half(x: int, y):
        return x + y

    assert unannotated(half) == ["y", "return"]


def test_every_public_function_is_annotated():
    functions = dict(public_functions())
    assert len(functions) > 1200
    assert {name: unannotated(function) for name, function in functions.items() if unannotated(function)} == {}


def test_every_public_function_says_what_it_does():
    silent = [name for name, function in public_functions() if not (inspect.getdoc(function) or "").strip()]
    assert silent == []


ANYTHING_BUT_ANY = set(
    """
    y labels logits learning_rate decay_steps input_tensor features segment_ids
    dtype out_type output_type axis name keepdims padding data_format
    a b x indices updates images image boxes batch_size num_segments params mean stddev rate size min max tensors elems
    kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer kernel_constraint
    initializer regularizer activation strides dilation_rate kernel_size pool_size ksize filters feature_columns
    fn func map_func body pred default_value filename file_pattern checkpoint_dir var_list global_step trainable
    shared_name capacity num_threads datasets tags msg description sequence_lengths output_shape noise_shape
    """.split()  # noqa: SIM905
)
"""Names of arguments that mean the same everywhere, so that `Any` says less than is known."""


def test_arguments_that_mean_the_same_everywhere_say_what_they_take():
    """What takes tensors says TensorLike, what takes dtypes DTypeLike: `ebbflow.core.typing` has the words."""
    bare = [
        f"{name}: {argument}"
        for name, function in public_functions()
        for argument, annotation in inspect.unwrap(function).__annotations__.items()
        if annotation in ("Any", Any) and argument in ANYTHING_BUT_ANY
    ]
    assert bare == [], "\n".join(bare)


def test_few_annotations_are_bare_any():
    """Where a value is anything at all Any says so; elsewhere a class, a union or an alias of `core.typing` does."""
    annotations = [
        annotation
        for _, function in public_functions()
        for name, annotation in inspect.unwrap(function).__annotations__.items()
        if name not in ("args", "kwargs")
    ]
    bare = sum(annotation in ("Any", Any) for annotation in annotations)
    assert bare / len(annotations) < 0.02
