"""From a model's outputs to the signatures of an export, and the folders exports go to."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from ebbflow.core import nest
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.platform import files, logging
from ebbflow.savedmodel import export_outputs as outputs
from ebbflow.savedmodel.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from ebbflow.savedmodel.mode_keys import ModeKeyMap, is_predict, is_train
from ebbflow.savedmodel.signature_defs import is_valid_signature

TRAIN, EVAL, PREDICT = "train", "eval", "infer"

EXPORT_TAG_MAP = ModeKeyMap(**{PREDICT: ["serve"], TRAIN: ["train"], EVAL: ["eval"]})
"""The tags of a graph by what it does."""

SIGNATURE_KEY_MAP = ModeKeyMap(**{PREDICT: DEFAULT_SERVING_SIGNATURE_DEF_KEY, TRAIN: "train", EVAL: "eval"})
"""The key of a graph's first signature by what it does."""

SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"
ATTEMPTS = 10


def build_all_signature_defs(
    receiver_tensors: Any, export_outputs: Any, receiver_tensors_alternatives: Any = None, serving_only: bool = True
) -> dict[str, Any]:
    """Return the signatures of all outputs for what is received, and those for other things that may be fed instead."""
    receivers = _received(receiver_tensors)
    if export_outputs is None or not isinstance(export_outputs, Mapping):
        raise ValueError(f"`export_outputs` must be a dict and not {type(export_outputs)}")
    signatures: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    for key, output in export_outputs.items():
        _add(signatures, excluded, str(key or "None"), output, receivers)
    for name, tensors in (receiver_tensors_alternatives or {}).items():
        for key, output in export_outputs.items():
            _add(signatures, excluded, f"{name}:{key or 'None'}", output, _received(tensors))
    for key, why in excluded.items():
        logging.info("Export excluded %s because it cannot be served: %s", key, why)
    if serving_only and not signatures:
        logging.warn("Export includes no default signature!")
    return {
        key: signature for key, signature in signatures.items() if not serving_only or is_valid_signature(signature)
    }


def _received(receiver_tensors: Any) -> dict[str, Any]:
    if isinstance(receiver_tensors, Mapping):
        return dict(receiver_tensors)
    return {SINGLE_RECEIVER_DEFAULT_NAME: receiver_tensors}


def _add(signatures: dict[str, Any], excluded: dict[str, str], key: str, output: Any, receivers: Any) -> None:
    try:
        signature = output.as_signature_def(receivers)
    except ValueError as error:
        excluded[key] = str(error)
        return
    lacking = _unfed(signature, receivers)
    if lacking is None:
        signatures[key] = signature
    else:
        excluded[key] = f"it needs the placeholder {lacking!r}, which is none of its inputs"


def _unfed(signature: Any, receivers: Any) -> str | None:
    """Return the name of a placeholder that a signature's outputs need, and that its inputs do not give."""
    given = {t.op for t in nest.flatten(receivers, expand_composites=True) if type(t) is SymbolicTensor}
    if not given:
        return None
    graph = next(iter(given)).graph
    waiting = [graph.as_graph_element(info.name).op for info in signature.outputs.values() if info.name]
    met = set(waiting)
    while waiting:
        node = waiting.pop()
        if node in given:
            continue
        if node.type in ("Placeholder", "PlaceholderV2"):
            return str(node.name)
        for other in [*(tensor.op for tensor in node.inputs), *node.control_inputs]:
            if other not in met:
                met.add(other)
                waiting.append(other)
    return None


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """Return a folder below this one, named by the time in seconds, that does not exist yet."""
    for _ in range(ATTEMPTS):
        folder = os.path.join(os.fsdecode(export_dir_base), str(int(time.time())))
        if not files.exists(folder):
            return os.fsencode(folder)  # as TensorFlow has it, and so what Estimators return
        logging.warn("Directory %s already exists; retrying", folder)
        time.sleep(1)
    raise RuntimeError(f"Failed to obtain a unique export directory name after {ATTEMPTS} attempts.")


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """Return the folder an export is written to before it gets its own name."""
    folder, name = os.path.split(os.fsdecode(timestamped_export_dir))
    return os.fsencode(os.path.join(folder, f"temp-{name}"))


def export_outputs_for_mode(
    mode: str, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None, metrics: Any = None
) -> dict[str, Any]:
    """Return the outputs of a graph that predicts, trains or evaluates."""
    key = SIGNATURE_KEY_MAP[mode]
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = outputs.TrainOutput if is_train(mode) else outputs.EvalOutput
    return {key: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, Any]:
    """Return outputs to serve, of which one is the default: predictions where nothing else is said."""
    if export_outputs is None:
        export_outputs = {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: outputs.PredictOutput({} if predictions is None else predictions)
        }
    if not isinstance(export_outputs, Mapping):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    for value in export_outputs.values():
        if not isinstance(value, outputs.ExportOutput):
            raise TypeError(
                "Values in `export_outputs` must be ExportOutput objects, received: "
                + str({key: type(v).__name__ for key, v in export_outputs.items()})
            )
    return _maybe_add_default_serving_output(dict(export_outputs))


def _maybe_add_default_serving_output(export_outputs: dict[str, Any]) -> dict[str, Any]:
    if len(export_outputs) == 1:
        ((key, value),) = export_outputs.items()
        if key != DEFAULT_SERVING_SIGNATURE_DEF_KEY:
            export_outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = value
    elif len(export_outputs) > 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in export_outputs:
        raise ValueError(
            "Multiple `export_outputs` were provided, but none of them are specified as the default. Use "
            f"{DEFAULT_SERVING_SIGNATURE_DEF_KEY!r} (tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY) as a key."
        )
    return export_outputs


def get_variables_dir(export_dir: Any) -> str:
    """Return the folder of a SavedModel's variables."""
    return os.path.join(os.fsdecode(export_dir), "variables")


def get_variables_path(export_dir: Any) -> str:
    """Return the prefix of a SavedModel's checkpoint."""
    return os.path.join(get_variables_dir(export_dir), "variables")
