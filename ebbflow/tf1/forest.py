"""Random forests as graphs: `tf.contrib.tensor_forest.python.tensor_forest`.

A tree and what its leaves have seen are resources (`ops/learning/forest_ops.py`), made anew or from checkpoints; a
training op shows every tree a batch. The Estimators on top are in `doors/learn/forest.py`.
"""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint.saveables import SaveableObject, SaveSpec
from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Message, Nested, TensorLike
from ebbflow.graph.collections import GraphKeys, add_to_collection
from ebbflow.graph.scopes import control_dependencies, device_scope, group, name_scope_v1
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.declare import raw
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.reduce.reductions import reduce_mean
from ebbflow.ops.sparse.functions import concat as sparse_concat
from ebbflow.state.shared_resources import register_resource
from ebbflow.state.variable_scope import get_variable

FINISH_TYPES = {"basic": 0}
PRUNING_TYPES = {"none": 0, "half": 1, "quarter": 2, "10_percent": 3, "hoeffding": 4}
SPLIT_TYPES = {"less_or_equal": 0, "less": 1}
MODEL_TYPES = {"all_dense": (0, 0), "all_sparse": (1, 1), "sparse_then_dense": (3, 3)}
"""The kind of leaf and of statistics by `model_name`; here one form serves all."""
REGRESSION = (2, 2)


class ForestHParams:
    """How a forest is made and grows; `fill` works out what was not said."""

    num_classes: int
    num_features: int
    regression: bool
    base_random_seed: int

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: Any = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: Any = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: Any = 0,
        early_finish_check_every_samples: Any = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "kwargs", "__class__")}
        vars(self).update(given, **kwargs)

    def values(self) -> dict[str, Any]:
        """Return all of them by name."""
        return vars(self)

    def fill(self) -> ForestHParams:
        """Work out what was not said; return itself."""
        told: Any = self
        for name in ("num_classes", "num_features"):
            if not hasattr(self, name):
                raise AttributeError(f"ForestHParams needs {name}: a forest cannot guess it")
        for name, known in (
            ("model_name", MODEL_TYPES), ("split_finish_name", FINISH_TYPES), ("split_pruning_name", PRUNING_TYPES),
            ("split_name", SPLIT_TYPES),
        ):  # fmt: skip
            if getattr(told, name) not in known:
                raise KeyError(f"{name} = {getattr(told, name)!r} is not one of {', '.join(known)}")
        if told.checkpoint_stats:
            raise ValueError("checkpoint_stats=True: what leaves have seen is not in checkpoints, which have the trees")
        told.bagged_num_features = int(told.feature_bagging_fraction * told.num_features)
        told.bagged_features = None
        if told.feature_bagging_fraction < 1.0:
            told.bagged_features = [
                random.sample(range(told.num_features), told.bagged_num_features) for _ in range(told.num_trees)
            ]
        told.regression = getattr(told, "regression", False)
        told.num_outputs = told.num_classes if told.regression else 1
        told.num_output_columns = told.num_classes + 1
        enough = min(max(10, math.floor(math.sqrt(told.num_features))), 1000)
        told.num_splits_to_consider = told.num_splits_to_consider or enough
        told.base_random_seed = getattr(told, "base_random_seed", 0)
        told.leaf_model_type, told.stats_model_type = REGRESSION if told.regression else MODEL_TYPES[told.model_name]
        told.finish_type, told.pruning_type = (
            FINISH_TYPES[told.split_finish_name],
            PRUNING_TYPES[told.split_pruning_name],
        )
        told.early_finish_check_every_samples = 0
        half = 0 if not told.pruning_type else told.prune_every_samples or int(told.split_after_samples) / 2
        told.prune_every_samples, told.split_type = half, SPLIT_TYPES[told.split_name]
        return self


def build_params_proto(params: ForestHParams) -> Message:
    """Return filled parameters as TensorFlow's message."""
    told: Any = params
    proto = messages.message("tensorflow.tensorforest.TensorForestParams")(
        num_trees=told.num_trees, max_nodes=told.max_nodes, is_regression=told.regression,
        num_outputs=told.num_classes, num_features=told.num_features, leaf_type=told.leaf_model_type,
        stats_type=told.stats_model_type, inequality_test_type=told.split_type,
        collate_examples=told.collate_examples, use_running_stats_method=told.use_running_stats_method,
        initialize_average_splits=told.initialize_average_splits, inference_tree_paths=told.inference_tree_paths,
    )  # fmt: skip
    proto.pruning_type.type, proto.finish_type.type = told.pruning_type, told.finish_type
    for part, value in (
        (proto.pruning_type.prune_every_samples, told.prune_every_samples),
        (proto.finish_type.check_every_steps, told.early_finish_check_every_samples),
        (proto.split_after_samples, told.split_after_samples),
        (proto.num_splits_to_consider, told.num_splits_to_consider),
        (proto.dominate_fraction, told.dominate_fraction),
    ):
        _number_or_text(part, value)
    if told.param_file:
        with open(told.param_file) as file:
            proto.MergeFrom(messages.parse_text(file.read(), type(proto), told.param_file))
    return proto


def _number_or_text(part: Any, value: Any) -> None:
    """Set a parameter that may depend on the depth: a number, or the text of a message."""
    if isinstance(value, numbers.Number):
        part.constant_value = value
    elif value.isdigit():
        part.constant_value = int(value)
    else:
        part.MergeFrom(messages.parse_text(value, type(part), "a parameter of a forest"))


class _Saved(SaveableObject):
    """A tree, or the statistics of one, in checkpoints: one string."""

    def __init__(self, handle: Any, create: Any, text: Any, restored: Callable[[Any, Any], Any], name: str):
        self._handle, self._create, self._restored = handle, create, restored
        super().__init__(handle, [SaveSpec(text, "", name)], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the op that takes what a checkpoint has."""
        with control_dependencies([self._create]):
            return self._restored(self._handle, restored_tensors[0])


def _kept(handle: Any, create: Any, is_ready: Any, text: Any, restored: Callable[[Any, Any], Any]) -> Any:
    """Have a resource initialized with the others, and saved; return its handle."""
    register_resource(handle, create, is_ready)
    add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _Saved(handle, create, text, restored, handle.name))
    return handle


class TreeVariables:
    """The resources of a tree: `tree`, and where it is to grow, `stats`."""

    def __init__(self, params: Any, tree_num: int, training: bool, tree_config: str = "", tree_stat: str = ""):
        if not hasattr(params, "params_proto"):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = told = messages.serialize(params.params_proto)
        self.stats = None
        if training:
            with name_scope_v1(self.get_tree_name("stats", tree_num)) as scope:
                handle = raw.FertileStatsResourceHandleOp(container="", shared_name=scope, name=scope)
                self.stats = _kept(
                    handle, raw.CreateFertileStatsVariable(handle, tree_stat, params=told),
                    raw.FertileStatsIsInitializedOp(handle), raw.FertileStatsSerialize(handle, params=told),
                    lambda handle, text: raw.FertileStatsDeserialize(handle, text, params=told),
                )  # fmt: skip
        with name_scope_v1(self.get_tree_name("tree", tree_num)) as scope:
            handle = raw.DecisionTreeResourceHandleOp(container="", shared_name=scope, name=scope)
            self.tree = _kept(
                handle, raw.CreateTreeVariable(handle, tree_config, params=told), raw.TreeIsInitializedOp(handle),
                raw.TreeSerialize(handle), lambda handle, text: raw.TreeDeserialize(handle, text, params=told),
            )  # fmt: skip

    def get_tree_name(self, name: str, num: int) -> str:
        """Return the name of a tree's resource."""
        return f"{name}-{num}"


class ForestVariables:
    """The resources of all trees, by their numbers."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any,
        training: bool = True,
        tree_variables_class: type = TreeVariables,
        tree_configs: Sequence[str] | None = None,
        tree_stats: Sequence[str] | None = None,
    ):
        with device_scope(device_assigner):
            self.device_dummies = [get_variable(f"device_dummy_{i}", shape=[0]) for i in range(params.num_trees)]
        self.variables = []
        for i, dummy in enumerate(self.device_dummies):
            more = {} if tree_configs is None else {"tree_config": tree_configs[i]}
            more.update({} if tree_stats is None else {"tree_stat": tree_stats[i]})
            with device_scope(dummy.device):
                self.variables.append(tree_variables_class(params, i, training, **more))

    def __setitem__(self, t: int, val: Any) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> Any:
        return self.variables[t]


class RandomForestGraphs:
    """The graphs of a forest: training, predictions, its size and the importance of features."""

    def __init__(
        self,
        params: Any,
        tree_configs: Sequence[str] | None = None,
        tree_stats: Sequence[str] | None = None,
        device_assigner: Any = None,
        variables: Any = None,
        tree_variables_class: type = TreeVariables,
        tree_graphs: Any = None,
        training: bool = True,
    ):
        self.params, self.device_assigner = params, device_assigner
        self.variables = variables or ForestVariables(
            params, device_assigner, training, tree_variables_class, tree_configs, tree_stats
        )
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[i], params, i) for i in range(params.num_trees)]

    def _device(self, i: int) -> Any:
        return device_scope(self.variables.device_dummies[i].device)

    def _bagged(self, i: int, features: _Features) -> _Features:
        if not self.params.bagged_features:
            return features
        return features.columns(self.params.bagged_features[i])

    def get_all_resource_handles(self) -> list[Any]:
        """Return the handles of all trees and of their statistics."""
        every = [self.variables[i] for i in range(len(self.trees))]
        return [some.tree for some in every] + [some.stats for some in every]

    def training_graph(
        self, input_data: Nested, input_labels: Nested, num_trainers: int = 1, trainer_id: int = 0, **tree_kwargs: Any
    ) -> Effect:
        """Return the op that shows a batch to every tree of this trainer."""
        features, labels = _Features.of(input_data), _labels(input_labels)
        share = self.params.num_trees / num_trainers
        steps = []
        for i in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with self._device(i):
                seed = self.params.base_random_seed + i if self.params.base_random_seed else 0
                some, told, options = features, labels, dict(tree_kwargs)
                if self.params.bagging_fraction < 1.0:
                    drawn = random_uniform([shape(labels)[0]], seed=seed) < self.params.bagging_fraction
                    rows = raw.Where(drawn)[:, 0]
                    some, told = features.rows(rows), gather(labels, rows)
                    if options.get("input_weights") is not None:
                        options["input_weights"] = gather(options["input_weights"], rows)
                some = self._bagged(i, some)
                steps.append(self.trees[i].training_graph(some.dense, told, seed, some.spec, some.sparse, **options))
        return group(*steps, name="train")

    def inference_graph(self, input_data: Nested, **inference_args: Any) -> Nested:
        """Return the mean prediction of the trees, the paths that examples took, and how predictions vary by tree."""
        features = _Features.of(input_data)
        told = []
        for i, tree in enumerate(self.trees):
            with self._device(i):
                some = self._bagged(i, features)
                told.append(tree.inference_graph(some.dense, some.spec, some.sparse, **inference_args))
        every, paths = (raw.Pack(list(column), axis=1) for column in zip(*told, strict=True))
        mean = raw.RealDiv(raw.Sum(every, 1), np.float32(self.params.num_trees), name="probabilities")
        squares = raw.Sum(every * every, 1) / self.params.num_trees
        return mean, paths, raw.Maximum(0.0, squares - mean * mean)

    def average_size(self) -> TensorLike:
        """Return the mean number of nodes of a tree."""
        return reduce_mean(raw.Cast(raw.Pack([tree.size() for tree in self.trees]), DstT=dtypes.float32))

    def training_loss(self, features: Nested, labels: Nested, name: str = "training_loss") -> TensorLike:
        """Return what stands for a loss: the trees' mean size, negative."""
        return raw.Neg(self.average_size(), name=name)

    def validation_loss(self, features: Nested, labels: Nested) -> TensorLike:
        """Return what stands for a loss: the trees' mean size, negative."""
        return raw.Neg(self.average_size())

    def feature_importances(self) -> TensorLike:
        """Return the share of all splits that each feature has."""
        counts = []
        for i, tree in enumerate(self.trees):
            used = tree.feature_usage_counts()
            if self.params.bagged_features:
                places = np.array(self.params.bagged_features[i], np.int32)
                used = raw.ScatterNd(
                    places[:, None], used[: len(places)], np.array([self.params.num_features], np.int32)
                )
            counts.append(used)
        total = raw.Cast(raw.AddN(counts), DstT=dtypes.float64)
        return total / raw.Sum(total, 0)


class RandomTreeGraphs:
    """The graphs of one tree."""

    def __init__(self, variables: Any, params: Any, tree_num: int):
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def training_graph(
        self,
        input_data: TensorLike | None,
        input_labels: TensorLike,
        random_seed: int,
        data_spec: Any,
        sparse_features: SparseTensor | None = None,
        input_weights: TensorLike | None = None,
    ) -> Effect:
        """Return the op that shows the tree a batch: leaves take it in, and those that have enough are split."""
        told, spec = self.params.serialized_params_proto, data_spec.SerializeToString()
        data = _inputs(input_data, sparse_features)
        weights = np.zeros([0], np.float32) if input_weights is None else raw.Cast(
            convert(input_weights), DstT=dtypes.float32
        )  # fmt: skip
        leaves = raw.TraverseTreeV4(self.variables.tree, *data, input_spec=spec, params=told)
        update = raw.UpdateModelV4(self.variables.tree, leaves, input_labels, weights, params=told)
        finished = raw.ProcessInputV4(
            self.variables.tree, self.variables.stats, *data, input_labels, weights, leaves, random_seed=random_seed,
            input_spec=spec, params=told,
        )  # fmt: skip
        with control_dependencies([update]):
            return raw.GrowTreeV4(self.variables.tree, self.variables.stats, finished, params=told)

    def inference_graph(
        self, input_data: TensorLike | None, data_spec: Any, sparse_features: SparseTensor | None = None
    ) -> Nested:
        """Return the tree's predictions, and the paths that examples took."""
        return raw.TreePredictionsV4(
            self.variables.tree, *_inputs(input_data, sparse_features), input_spec=data_spec.SerializeToString(),
            params=self.params.serialized_params_proto,
        )  # fmt: skip

    def size(self) -> TensorLike:
        """Return the number of nodes."""
        return raw.TreeSize(self.variables.tree)

    def feature_usage_counts(self) -> Tensor:
        """Return how many splits each feature has."""
        return raw.FeatureUsageCounts(self.variables.tree, params=self.params.serialized_params_proto)


def _inputs(dense: Any, sparse: Any) -> tuple[Any, Any, Any, Any]:
    data = np.zeros([0, 0], np.float32) if dense is None else dense
    if sparse is None:
        return data, np.zeros([0, 2], np.int64), np.zeros([0], np.float32), np.zeros([0], np.int64)
    return data, sparse.indices, sparse.values, sparse.dense_shape


class DataSpec:
    """What the columns of a batch are, as text."""

    def __init__(self, columns: Sequence[tuple[str, int]]):
        self.columns = list(columns)

    def SerializeToString(self) -> str:
        """Return the text."""
        return " ".join(f"{name}:{width}" for name, width in self.columns)


class _Features:
    """A batch: a matrix of floats, and perhaps a sparse one beside it."""

    def __init__(self, dense: Any, sparse: Any, spec: DataSpec):
        self.dense, self.sparse, self.spec = dense, sparse, spec

    @classmethod
    def of(cls, data: Any) -> _Features:
        """Return what a tensor, a sparse tensor or a dictionary of them holds, keys in order."""
        data = data if isinstance(data, Mapping) else {"features": data}
        dense, sparse, columns = [], [], []
        for key in sorted(data, key=str):
            value = data[key]
            if isinstance(value, SparseTensor):
                sparse.append(SparseTensor(value.indices, _float(value.values), value.dense_shape))
                columns.append((str(key), -1))
                continue
            value = _float(convert(value))
            dense.append(value[:, None] if value.shape.rank == 1 else value)
            columns.append((str(key), dense[-1].shape.as_list()[1] or -1))
        together = None if not dense else dense[0] if len(dense) == 1 else concat(dense, 1)
        beside = None if not sparse else sparse[0] if len(sparse) == 1 else sparse_concat(1, sparse)
        return cls(together, beside, DataSpec(columns))

    def _only_dense(self, what: str) -> Any:
        if self.sparse is not None:
            raise NotImplementedError(f"{what} is not for sparse features: make them dense (tf.sparse.to_dense)")
        return self.dense

    def rows(self, rows: Any) -> _Features:
        """Return some rows."""
        return _Features(gather(self._only_dense("Bagging"), rows), None, self.spec)

    def columns(self, columns: Sequence[int]) -> _Features:
        """Return some columns."""
        return _Features(gather(self._only_dense("Feature bagging"), columns, axis=1), None, self.spec)


def _float(values: Any) -> Any:
    if values.dtype == dtypes.string:
        return raw.Cast(raw.StringToHashBucketFast(values, num_buckets=1 << 24), DstT=dtypes.float32)
    return raw.Cast(values, DstT=dtypes.float32)


def _labels(labels: Any) -> Any:
    if isinstance(labels, Mapping):
        return concat([_labels(labels[key]) for key in sorted(labels)], 1)
    if isinstance(labels, SparseTensor):
        labels = raw.SparseToDense(labels.indices, labels.dense_shape, labels.values, convert(-1, dtype=labels.dtype))
    return _float(convert(labels))
