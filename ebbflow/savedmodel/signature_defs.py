"""Signatures of TF 1 models: which tensors of a graph are inputs and outputs under which names, as SignatureDefs.

Knows tensors and messages; checks the forms that serving programs expect of `classify`, `regress` and `predict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor, Message, TensorLike
from ebbflow.graph.scope_names import prepend_name_scope
from ebbflow.io.structures import decode_proto, encode_structure
from ebbflow.messages.tensors import make_tensor_proto, shape_proto
from ebbflow.savedmodel import constants

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


METHODS = {
    constants.CLASSIFY_METHOD_NAME: "classification",
    constants.REGRESS_METHOD_NAME: "regression",
    constants.PREDICT_METHOD_NAME: "prediction",
}

# --- tensors ----------------------------------------------------------------------------------------------------------


def build_tensor_info(tensor: TensorLike) -> Message:
    """Return a tensor (also a sparse or ragged one) as a TensorInfo."""
    if isinstance(tensor, EagerTensor):
        raise RuntimeError("`build_tensor_info` is not supported in Eager mode.")
    if isinstance(tensor, SparseTensor):
        info = _info(tensor.dtype, tensor.shape)
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
        return info
    if isinstance(tensor, CompositeTensor):
        spec = tensor._type_spec
        info = _info(getattr(tensor, "dtype", dtypes.variant), getattr(tensor, "shape", None))
        info.composite_tensor.type_spec.CopyFrom(encode_structure(spec).type_spec_value)
        for component in nest.flatten(tensor, expand_composites=True):
            info.composite_tensor.components.add().CopyFrom(build_tensor_info(component))
        return info
    if not isinstance(tensor, Tensor):
        tensor = convert(tensor)
    info = _info(tensor.dtype.base_dtype, tensor.shape)
    info.name = tensor.name
    return info


def _info(dtype: Any, shape: Any) -> Any:
    return messages.TensorInfo(dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(shape))


def build_tensor_info_from_op(op: Any) -> Any:
    """Return an operation as a TensorInfo: a name, no dtype."""
    return messages.TensorInfo(
        dtype=messages.enum("DataType").Value("DT_INVALID"),
        tensor_shape=messages.TensorShapeProto(unknown_rank=True),
        name=op.name,
    )


def get_tensor_from_tensor_info(
    tensor_info: Message, graph: Graph | None = None, import_scope: str | None = None
) -> AnyTensor:
    """Return the tensor (or sparse or ragged one) of a graph that a TensorInfo names."""
    graph = _graph(graph)

    def named(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return named(tensor_info.name)
    if encoding == "coo_sparse":
        names = tensor_info.coo_sparse
        return SparseTensor(
            named(names.indices_tensor_name), named(names.values_tensor_name), named(names.dense_shape_tensor_name)
        )
    if encoding == "composite_tensor":
        value = messages.StructuredValue(type_spec_value=tensor_info.composite_tensor.type_spec)
        spec = decode_proto(value)
        parts = [named(component.name) for component in tensor_info.composite_tensor.components]
        return spec._from_components(nest.pack_sequence_as(spec._component_specs, parts, expand_composites=True))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}. Expected `coo_sparse`, `composite_tensor`, or `name`.")


def get_element_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """Return the operation or tensor of a graph that a TensorInfo names."""
    return _graph(graph).as_graph_element(prepend_name_scope(tensor_info.name, import_scope))


def _graph(graph: Any) -> Any:
    return context.default_graph() if graph is None else graph


# --- signatures -------------------------------------------------------------------------------------------------------


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Message:
    """Return a SignatureDef of TensorInfos by name."""
    result = messages.SignatureDef()
    values = {name: _as_proto(name, value) for name, value in (defaults or {}).items()}
    for given, field in ((inputs, result.inputs), (outputs, result.outputs), (values, result.defaults)):
        for name, info in (given or {}).items():
            field[name].CopyFrom(info)
    if method_name is not None:
        result.method_name = method_name
    return result


def _as_proto(name: str, value: Any) -> Message:
    """Return the default of an argument as a TensorProto: given as one, or as a tensor whose value is known."""
    if not isinstance(value, Tensor):
        return value
    known = value.constant_value()
    if known is None:
        raise ValueError(f"The default of {name!r} must be a constant, got {value!r}")
    return make_tensor_proto(known, value.dtype)


def regression_signature_def(examples: TensorLike, predictions: TensorLike) -> Message:
    """Return the signature of a regression: examples as text in, float predictions out."""
    for name, value in (("examples", examples), ("predictions", predictions)):
        if value is None:
            raise ValueError(f"Regression `{name}` cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(
            f"Expected regression `examples` to be of type Tensor. Found `examples` of type {type(examples)}."
        )
    _check(examples, dtypes.string, "Regression input tensors must be of type string.")
    _check(predictions, dtypes.float32, "Regression output tensors must be of type float.")
    return build_signature_def(
        {constants.REGRESS_INPUTS: build_tensor_info(examples)},
        {constants.REGRESS_OUTPUTS: build_tensor_info(predictions)},
        constants.REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: TensorLike, classes: TensorLike, scores: TensorLike) -> Message:
    """Return the signature of a classification: examples as text in; classes as text, scores, or both out."""
    if examples is None:
        raise ValueError("Classification `examples` cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(
            f"Classification `examples` must be a string Tensor. Found `examples` of type {type(examples)}."
        )
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    _check(examples, dtypes.string, "Classification input tensors must be of type string.")
    outputs = {}
    if classes is not None:
        _check(classes, dtypes.string, "Classification classes must be of type string Tensor.")
        outputs[constants.CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
    if scores is not None:
        _check(scores, dtypes.float32, "Classification scores must be a float tensor.")
        outputs[constants.CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
    inputs = {constants.CLASSIFY_INPUTS: build_tensor_info(examples)}
    return build_signature_def(inputs, outputs, constants.CLASSIFY_METHOD_NAME)


def _check(tensor: Any, dtype: Any, message: str) -> None:
    if tensor.dtype.base_dtype is not dtype:
        raise ValueError(f"{message} Found tensor of type {tensor.dtype.base_dtype.name}.")


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Message:
    """Return the signature of any computation, from named tensors to named tensors."""
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        constants.PREDICT_METHOD_NAME,
    )


def supervised_train_signature_def(inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None) -> Any:
    """Return the signature of a training step."""
    return _supervised(constants.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None) -> Any:
    """Return the signature of an evaluation."""
    return _supervised(constants.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised(method: str, inputs: Any, loss: Any, predictions: Any, metrics: Any) -> Any:
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    outputs = {}
    for group in (loss, predictions, metrics):
        outputs.update({name: build_tensor_info(tensor) for name, tensor in (group or {}).items()})
    return build_signature_def({name: build_tensor_info(t) for name, t in inputs.items()}, outputs, method)


def op_signature_def(op: Any, key: str) -> Any:
    """Return a signature with one output, an operation."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def: Any, key: str, import_scope: str | None = None) -> Any:
    """Return the operation that `op_signature_def` noted under a key."""
    info = signature_def.outputs[key]
    try:
        return get_element_from_tensor_info(info, import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None,
            None,
            f'The key "{key}" could not be found in the graph. Please make sure the SavedModel was created by the '
            "internal _SavedModelBuilder. If you are using the public API, please make sure the SignatureDef in the "
            f'SavedModel does not contain the key "{key}".',
        ) from None


def is_valid_signature(signature_def: Message) -> bool:
    """Return whether a signature is one that a server can answer."""
    if signature_def is None:
        return False
    kind = METHODS.get(signature_def.method_name)
    if kind is None or not signature_def.inputs or not signature_def.outputs:
        return False
    if kind == "prediction":
        return True
    text, number = dtypes.string.as_datatype_enum, dtypes.float32.as_datatype_enum
    if set(signature_def.inputs) != {"inputs"} or signature_def.inputs["inputs"].dtype != text:
        return False
    allowed = {"outputs": number} if kind == "regression" else {"classes": text, "scores": number}
    return all(name in allowed and info.dtype == allowed[name] for name, info in signature_def.outputs.items())


def get_signature_def_by_key(meta_graph_def: Message, signature_def_key: str) -> Message:
    """Return the signature of a name, or say which there are."""
    if signature_def_key not in meta_graph_def.signature_def:
        raise ValueError(
            f"No SignatureDef with key '{signature_def_key}' found in MetaGraphDef; there are "
            f"{sorted(meta_graph_def.signature_def)}."
        )
    return meta_graph_def.signature_def[signature_def_key]
