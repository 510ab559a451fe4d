"""How models of `tf.contrib.learn` are exported: signatures for each input and output alternative, folders, strategies
that keep the best model or change what was exported (`saved_model_export_utils`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Message
from ebbflow.doors.learn.canned import PredictionKey, ProblemType
from ebbflow.doors.learn.estimator import ModelFnOps
from ebbflow.doors.learn.experiment import ExportStrategy, make_export_strategy
from ebbflow.doors.learn.serving import InputFnOps, build_parsing_serving_input_fn
from ebbflow.feature_column.first_generation import make_parse_example_spec
from ebbflow.platform import files, logging
from ebbflow.savedmodel import constants, kept_exports, signature_defs
from ebbflow.summary.writer import summary_iterator

DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"
FEATURES_INPUT_ALTERNATIVE_KEY = "features_input_alternative"
DEFAULT_OUTPUT_ALTERNATIVE = "default_output_alternative"

# --- signatures -------------------------------------------------------------------------------------------------------


def build_standardized_signature_def(
    input_tensors: Mapping[str, Any], output_tensors: Mapping[str, Any], problem_type: int
) -> Message:
    """Return the signature of these tensors: of a classification or a regression where they are fit for that."""
    inputs, outputs = list(input_tensors.values()), list(output_tensors.values())
    if len(inputs) == 1 and problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes, scores = _classes(output_tensors), _scores(output_tensors)
        if classes is not None or scores is not None:
            return signature_defs.classification_signature_def(inputs[0], classes, scores)
    if len(inputs) == len(outputs) == 1 and problem_type == ProblemType.LINEAR_REGRESSION:
        return signature_defs.regression_signature_def(inputs[0], outputs[0])
    return signature_defs.predict_signature_def(input_tensors, output_tensors)


def _scores(outputs: Mapping[str, Any]) -> Any:
    found = outputs.get(PredictionKey.SCORES)
    return outputs.get(PredictionKey.PROBABILITIES) if found is None else found


def _classes(outputs: Mapping[str, Any]) -> Any:
    """Return the classes where they are text: a server shows no others."""
    found = next(iter(outputs.values())) if len(outputs) == 1 else outputs.get(PredictionKey.CLASSES)
    return found if found is not None and found.dtype == dtypes.string else None


def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """Return what may be fed by the names of the ways, and the features; an old input function tells features only."""
    if isinstance(input_ops, InputFnOps):
        features, _, inputs = input_ops
        alternatives = {DEFAULT_INPUT_ALTERNATIVE_KEY: inputs}
    else:
        features, _ = input_ops
        alternatives = {}
    if not features:
        raise ValueError("Features must be defined.")
    return alternatives, features


def get_output_alternatives(
    model_fn_ops: ModelFnOps, default_output_alternative_key: str | None = None
) -> tuple[dict[str, Any], str]:
    """Return what a model may answer by the names of the ways, and the way that is taken if none is asked for."""
    found = model_fn_ops.output_alternatives
    if not found:
        if default_output_alternative_key:
            raise ValueError(
                f"Requested default_output_alternative: {default_output_alternative_key}, but available "
                "output_alternatives are: []"
            )
        predictions = model_fn_ops.predictions
        named = {"output": predictions} if isinstance(predictions, Tensor) else predictions
        return {DEFAULT_OUTPUT_ALTERNATIVE: (ProblemType.UNSPECIFIED, named)}, DEFAULT_OUTPUT_ALTERNATIVE
    if default_output_alternative_key:
        if default_output_alternative_key not in found:
            raise ValueError(
                f"Requested default_output_alternative: {default_output_alternative_key}, but available "
                f"output_alternatives are: {sorted(found)}"
            )
        return found, default_output_alternative_key
    if len(found) > 1:
        raise ValueError(
            f"Please specify a default_output_alternative.  Available output_alternatives are: {sorted(found)}"
        )
    return found, next(iter(found))


def build_all_signature_defs(
    input_alternatives: Mapping[str, Any], output_alternatives: Mapping[str, Any], default_key: str
) -> dict[str, Message]:
    """Return the signatures of all ways in and out, `in:out` by name, and the default one."""
    if DEFAULT_INPUT_ALTERNATIVE_KEY not in input_alternatives:
        raise ValueError("A default input_alternative must be provided.")
    made = {
        f"{way_in}:{way_out or 'None'}": build_standardized_signature_def(inputs, outputs, problem_type)
        for way_in, inputs in input_alternatives.items()
        for way_out, (problem_type, outputs) in output_alternatives.items()
    }
    problem_type, outputs = output_alternatives[default_key]
    made[constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = build_standardized_signature_def(
        input_alternatives[DEFAULT_INPUT_ALTERNATIVE_KEY], outputs, problem_type
    )
    return made


# --- folders ----------------------------------------------------------------------------------------------------------


def get_timestamped_export_dir(export_dir_base: Any) -> str:
    """Return a folder of the present second in which nothing was exported yet."""
    for attempt in range(10):
        wanted = files.join(os.fspath(export_dir_base), str(int(time.time())))
        if not files.exists(wanted):
            return wanted
        logging.warn(f"Export directory {wanted} already exists; retrying (attempt {attempt + 1}/10)")
        time.sleep(1)
    raise RuntimeError("Failed to obtain a unique export directory name after 10 attempts.")


def get_temp_export_dir(timestamped_export_dir: str) -> str:
    """Return the folder beside, in which an export is written until it is whole."""
    folder, name = os.path.split(timestamped_export_dir)
    return files.join(folder, f"temp-{name}")


def get_most_recent_export(export_dir_base: str) -> Any:
    """Return the newest export in a folder and its number; None where there is none."""
    found = kept_exports.numbered(export_dir_base)
    return found[-1] if found else None


def garbage_collect_exports(export_dir_base: str, exports_to_keep: int | None) -> None:
    """Remove all but the newest exports."""
    if exports_to_keep is None:
        return
    old = kept_exports.negation(kept_exports.largest_export_versions(exports_to_keep))
    for path in old(kept_exports.numbered(export_dir_base)):
        files.rmtree(path.path)


# --- strategies -------------------------------------------------------------------------------------------------------


def make_parsing_export_strategy(
    feature_columns: Iterable[Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[Any, Any] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Return a strategy whose exports take serialized examples with these columns."""
    columns = list(feature_columns)
    if target_core:
        receive: Callable[[], Any] = build_parsing_serving_input_fn(make_parse_example_spec(columns))
    else:
        spec: dict[Any, Any] = {}
        for column in columns:
            spec.update(column.config)
        receive = build_parsing_serving_input_fn(spec)
    return make_export_strategy(
        receive, default_output_alternative_key, assets_extra, as_text, exports_to_keep, strip_default_attrs
    )


def smaller_loss(curr_best_eval_result: Mapping[str, Any], cand_eval_result: Mapping[str, Any]) -> bool:
    """Return whether the second evaluation has the smaller loss."""
    for result in (curr_best_eval_result, cand_eval_result):
        if not result or "loss" not in result:
            raise ValueError(f"an evaluation must have a loss to be compared by, got {result}")
    return curr_best_eval_result["loss"] > cand_eval_result["loss"]


class BestModelSelector:
    """Says whether a model is the best so far; what was found before is in event files, if any."""

    def __init__(self, event_file_pattern: str | None = None, compare_fn: Callable[..., bool] | None = None) -> None:
        self._compare = compare_fn or smaller_loss
        self._best: Any = self._found_before(event_file_pattern) if event_file_pattern else None

    def update(self, checkpoint_path: str, eval_result: Mapping[str, Any]) -> tuple[bool, Any]:
        """Return whether to export this checkpoint, and the evaluation that is the best now."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        if self._best is None or self._compare(self._best, eval_result):
            self._best = eval_result
            return True, eval_result
        return False, self._best

    def _found_before(self, pattern: str) -> Any:
        best: Any = None
        for path in files.glob(pattern):
            for event in summary_iterator(path):
                values = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
                if values and (best is None or self._compare(best, values)):
                    best = values
        return best


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any] | None,
    exports_to_keep: int = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[..., bool] | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Return a strategy that exports a model when it is the best so far, into a folder called after its checkpoint."""
    pattern = files.join(model_dir, event_file_pattern) if model_dir and event_file_pattern else None
    selector = BestModelSelector(pattern, compare_fn)
    exported: list[str] = []

    def export(estimator: Any, export_dir_base: str, checkpoint_path: str, eval_result: Any = None) -> Any:
        good, _ = selector.update(checkpoint_path, eval_result)
        if not good:
            return ""
        where = files.join(export_dir_base, os.path.basename(checkpoint_path))
        more = {"checkpoint_path": checkpoint_path}
        if hasattr(estimator, "fit"):
            more["default_output_alternative_key"] = default_output_alternative_key  # type: ignore[assignment]
        written = estimator.export_savedmodel(where, serving_input_fn, **more)
        exported.append(where)
        for old in exported[:-exports_to_keep] if exports_to_keep else []:
            files.rmtree(old)
            exported.remove(old)
        return written

    return ExportStrategy("best_model", export)


def extend_export_strategy(
    base_export_strategy: ExportStrategy, post_export_fn: Callable[[str, str], str], post_export_name: str | None = None
) -> ExportStrategy:
    """Return a strategy that exports as another one, beside, and then makes its export from that."""

    def export(estimator: Any, export_dir_base: str, checkpoint_path: str | None = None) -> str:
        beside = get_temp_export_dir(export_dir_base)
        if files.exists(beside):
            files.rmtree(beside)
        files.makedirs(beside)
        first = base_export_strategy.export(estimator, beside, checkpoint_path)
        files.makedirs(export_dir_base)
        last = post_export_fn(first, export_dir_base)
        files.rmtree(beside)
        if not os.path.abspath(last).startswith(os.path.abspath(export_dir_base)):
            raise ValueError(f"post_export_fn must return a sub-directory of {export_dir_base}; got {last}")
        return last

    return ExportStrategy(post_export_name or base_export_strategy.name, export)
