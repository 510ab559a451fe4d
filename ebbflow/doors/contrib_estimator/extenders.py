"""What changes an Estimator or its parts from outside: clipped gradients, features that are handed through, exports.

`clip_gradients_by_norm` gives an optimizer, `forward_features` an Estimator; the others are older names of methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.doors.estimator_package import inside, shown
from ebbflow.doors.learn.old_options import AdjustedGradients
from ebbflow.ops.sparse.functions import convert_to_tensor_or_sparse_tensor, to_dense

if TYPE_CHECKING:
    from ebbflow.train.optimizer import Optimizer

core = shown(1)
PredictOutput = inside("export.export_output").PredictOutput


class _Clipped(AdjustedGradients):
    """An optimizer whose gradients are clipped by their common norm before they are applied."""

    def __init__(self, inner: Optimizer, norm: Any):
        super().__init__(inner, norm, {})
        self._name = f"ClipByNorm{inner.get_name()}"


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: TensorLike) -> Optimizer:
    """Return an optimizer that clips gradients by their common norm and has another apply them."""
    return _Clipped(optimizer, clip_norm)


def forward_features(
    estimator: Any,
    keys: str | Iterable[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Any:
    """Return an Estimator like another, whose predictions hold these features (all, for None) besides.

    Sparse features are made dense by the values that `sparse_default_values` has for them.
    """
    wanted = _checked(keys)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        chosen = _chosen(features, spec.predictions, wanted, sparse_default_values or {})
        for key in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(key)
            if isinstance(output, PredictOutput):
                output.outputs.update(chosen)
        return spec._replace(predictions={**spec.predictions, **chosen})

    return core.Estimator(model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _checked(keys: Any) -> list[str] | None:
    if keys is None:
        return None
    if isinstance(keys, str):
        return [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError("All items in the given keys list should be a string. There exist an item with type: "
                            f"{type(key)}")  # fmt: skip
    return list(keys)


def _chosen(features: Any, predictions: Any, keys: list[str] | None, defaults: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(predictions, Mapping):
        raise ValueError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
    found = {}
    for key in features if keys is None else keys:
        if key not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{key}" is not in features dict. features dict has following '
                f"keys: {list(features)}. Please check arguments of forward_features."
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing prediction keys: "
                f"{list(predictions)}. Please check arguments of forward_features."
            )
        feature = convert_to_tensor_or_sparse_tensor(features[key])
        if key in defaults:
            if not isinstance(feature, SparseTensor):
                raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
            feature = to_dense(feature, default_value=defaults[key])
        if not isinstance(feature, Tensor):
            raise ValueError(
                f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features to filter "
                f"unwanted features, or add key to argument `sparse_default_values`. Type of features[{key}] is "
                f"{type(feature)}."
            )
        found[key] = feature
    return found


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: str,
    input_receiver_fn: Callable[..., Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = "infer",
) -> bytes | str:
    """Write a SavedModel of an Estimator's graph for a mode; return where."""
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra=assets_extra, as_text=as_text,
        checkpoint_path=checkpoint_path, experimental_mode=mode,
    )  # fmt: skip


def export_all_saved_models(
    estimator: Any,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable[..., Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes | str:
    """Write a SavedModel with a graph for each mode that is given; return where."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra=assets_extra, as_text=as_text,
        checkpoint_path=checkpoint_path,
    )  # fmt: skip
