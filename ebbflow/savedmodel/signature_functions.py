"""Which functions a model offers as signatures, in the form signatures have: keywords in, a dict of tensors out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ebbflow.core import nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import Function
from ebbflow.graph.graph_def import distinct
from ebbflow.savedmodel import constants
from ebbflow.savedmodel.objects import SignatureMap
from ebbflow.savedmodel.options import SaveOptions
from ebbflow.savedmodel.replicas import for_a_file
from ebbflow.trackable.constants import SaveType

DEFAULT_SIGNATURE_ATTR = "_default_save_signature"


def find_function_to_export(root: Any, children: Mapping[str, Any] | None = None) -> Any:
    """Return the one function of a root that can be its default signature, or None."""
    children = root._trackable_children(SaveType.SAVEDMODEL) if children is None else children
    if DEFAULT_SIGNATURE_ATTR in children:
        return children[DEFAULT_SIGNATURE_ATTR]
    possible = [_single(child) for child in children.values() if isinstance(child, (Function, ConcreteFunction))]
    valid = [concrete for concrete in possible if concrete is not None and _is_valid(concrete)]
    return valid[0] if len(valid) == 1 else None


def _single(function: Any) -> ConcreteFunction | None:
    if isinstance(function, ConcreteFunction):
        return function
    return function.get_concrete_function() if function.input_signature is not None else None


def _is_valid(concrete: ConcreteFunction) -> bool:
    try:
        keywords_of(concrete, "")
        return bool(outputs_of(concrete.graph.structured_outputs, "", concrete))
    except ValueError:
        return False


def keywords_of(concrete: ConcreteFunction, key: str) -> list[str]:
    """Return the names of a function's tensors, by which a signature takes them: those of a file stay what they are."""
    names = list(concrete._arg_keywords)
    if concrete._keywords is None:
        names = [_clean(name) for name in names]
    args, kwargs = concrete.structured_input_signature
    leaves = nest.flatten([list(args), kwargs], expand_composites=True)
    if any(not isinstance(leaf, TensorSpec) for leaf in leaves if isinstance(leaf, (TensorSpec, CompositeTensor))):
        raise ValueError(f"Signature '{key}' takes more than tensors: {concrete.structured_input_signature}")
    if len(set(names)) != len(names):
        raise ValueError(
            f"Got non-flat/non-unique argument names for SavedModel signature '{key}': more than one argument to "
            f"'{concrete.name.decode()}' was named one of {names}. Signatures have one Tensor per named input, so to "
            "have predictable names Python functions used to generate these signatures should avoid *args and Tensors "
            "in nested structures unless unique names are specified for each. Use tf.TensorSpec(..., name=...) to "
            "provide a name for a Tensor input."
        )
    return names


def _clean(name: str) -> str:
    word = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return word if word[:1].isalpha() else f"arg_{word}"


def outputs_of(structure: Any, key: str, function: Any) -> dict[str, Any]:
    """Return a function's results by name: a dict's own names, else output_0, output_1, …"""
    if structure is None:
        return {}
    if isinstance(structure, Mapping):
        outputs = dict(structure)
        bad = [name for name in outputs if not isinstance(name, str)]
        if bad:
            raise ValueError(
                f"Got a dictionary with a non-string key {bad[0]!r} in the output of the function {function} used to "
                f"generate the SavedModel signature '{key}'."
            )
    elif isinstance(structure, (list, tuple)):
        outputs = {f"output_{i}": value for i, value in enumerate(structure)}
    else:
        outputs = {"output_0": structure}
    for name, value in outputs.items():
        if not isinstance(value, (Tensor, CompositeTensor)):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key '{name}' in the output of the function {function} used to "
                f"generate the SavedModel signature '{key}'. Outputs for functions used as signatures must be a single "
                "Tensor, a sequence of Tensors, or a dictionary from string to Tensor."
            )
    return outputs


def canonicalize_signatures(
    signatures: Any, options: SaveOptions | None = None
) -> tuple[SignatureMap, dict[str, ConcreteFunction]]:
    """Return what was given as signatures as a map of functions with keywords and dicts, and the functions given."""
    if signatures is None:
        return SignatureMap({}), {}
    if not isinstance(signatures, Mapping):
        signatures = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    found: dict[str, Any] = {}
    given: dict[str, ConcreteFunction] = {}
    for key in signatures:
        function = for_a_file(_concrete(signatures[key], key), options or SaveOptions())
        given[key] = function
        found[key] = _wrapped(function, key)
    return SignatureMap(found), given


def default_inputs(signatures: Any, concretes: Mapping[str, ConcreteFunction]) -> dict[str, dict[str, Any]]:
    """Return for each signature the values of inputs that need not be given."""
    if not isinstance(signatures, Mapping):
        signatures = dict.fromkeys(concretes, signatures)
    return {key: _defaults(signatures[key], concrete, key) for key, concrete in concretes.items()}


def _defaults(function: Any, concrete: ConcreteFunction, key: str) -> dict[str, Any]:
    """Return what a signature's inputs are when nobody gives them: the defaults of the Python function's parameters."""
    if not isinstance(function, Function):
        return {}
    parameters = function._signature.python.parameters
    names = keywords_of(concrete, key)
    args, kwargs = concrete.structured_input_signature
    found: dict[str, Any] = {}
    at = 0
    for name, of_type in zip(concrete.function_type.names, [*args, *kwargs.values()], strict=True):
        specs = [leaf for leaf in nest.flatten(of_type, expand_composites=True) if isinstance(leaf, TensorSpec)]
        default = parameters[name].default if name in parameters else inspect.Parameter.empty
        if specs and default is not inspect.Parameter.empty and default is not None:
            values = nest.flatten(default, expand_composites=True)
            if len(values) == len(specs):
                pairs = zip(names[at : at + len(specs)], values, specs, strict=True)
                found.update({word: convert(value, spec.dtype) for word, value, spec in pairs})
        at += len(specs)
    return found


def _concrete(function: Any, key: str) -> ConcreteFunction:
    if isinstance(function, Function):
        if function.input_signature is None:
            raise ValueError(
                f"Expected a TensorFlow function for which to generate a signature, but '{key}' ({function}) has no "
                "input_signature: pass `f.get_concrete_function(...)`, or give the function an `input_signature`."
            )
        return function.get_concrete_function()
    if not isinstance(function, ConcreteFunction):
        raise ValueError(
            f"Expected a TensorFlow function for which to generate a signature, but got {function}. Only "
            "`tf.functions` with an input signature or concrete functions can be used as a signature."
        )
    return function


def _wrapped(function: ConcreteFunction, key: str) -> ConcreteFunction:
    """Return a function of keywords that gives a dict; one that is so already stays as it is."""
    names = keywords_of(function, key)
    kinds = function.function_type.flat_types()  # as asked for: the body may have narrowed its arguments' shapes

    taken: set[str] = set()
    words = {distinct(_clean(name), taken): name for name in names}  # a parameter of Python's for each

    def signature_wrapper(**kwargs: Any) -> dict[str, Any]:
        results = function.call_flat([kwargs[word] for word in words])
        return outputs_of(results, key, function.name.decode())

    pairs = zip(words.items(), kinds, strict=True)
    specs = {word: TensorSpec(t.shape, t.dtype.base_dtype, name) for (word, name), t in pairs}
    outputs_of(function.graph.structured_outputs, key, function.name.decode())
    wrapper = Function(signature_wrapper, f"signature_wrapper_{function.graph.name}", autograph=False)
    concrete = wrapper.get_concrete_function(**specs)
    concrete._keywords = [words[word] for word in concrete.function_type.names]
    return concrete
