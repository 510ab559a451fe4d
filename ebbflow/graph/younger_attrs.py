"""Attrs that TensorFlow's ops got after 1.15: left out of graphs written with TF 1's manners, where they say nothing.

A table and how to look things up in it; imported by `graph_def`. Both TensorFlows read a graph without them.
"""

from __future__ import annotations

import functools

_ATTRS_AND_OPS = """
Tcomplex Treal: IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D
Tk index_type: TopKV2
Tsegmentids: SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
Tsegmentids: SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
Tshape: TensorListGetItem
allow_missing_files: MergeV2Checkpoints
allowed_devices debug_name: VarHandleOp
axis: Dequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeV2
bad_indices_policy: GatherNd ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate ScatterNd ScatterNdAdd
bad_indices_policy: ScatterNdNonAliasingAdd ScatterNdSub ScatterNdUpdate TensorScatterAdd TensorScatterSub
bad_indices_policy: TensorScatterUpdate
blank_index: CTCGreedyDecoder
buffer_size_min: PrefetchDataset
cardinality_options: DatasetCardinality
drop_remainder: SlidingWindowDataset
dtype: Dequantize
ensure_minimum_range: QuantizeV2
explicit_paddings: DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput
explicit_paddings: MaxPool MaxPoolGrad
exponential_avg_factor: FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3
external_state_policy: SerializeIterator
force_synchronous: MapDataset
grad_a grad_b: MatMul
grad_x grad_y: BatchMatMul BatchMatMulV2
is_files: TensorSliceDataset
log_warning: IgnoreErrorsDataset
metadata: BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2 ConcatenateDataset DatasetToSingleElement
metadata: FilterDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset
metadata: GroupByWindowDataset InterleaveDataset MapAndBatchDataset MapDataset PaddedBatchDataset PaddedBatchDatasetV2
metadata: ParallelInterleaveDataset ParallelInterleaveDatasetV2 ParallelMapDataset PrefetchDataset RandomDataset
metadata: RangeDataset ReduceDataset RepeatDataset ScanDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset
metadata: ShuffleDatasetV2 SkipDataset TFRecordDataset TakeDataset TakeWhileDataset TensorDataset TensorSliceDataset
metadata: TextLineDataset UnbatchDataset UniqueDataset WindowDataset ZipDataset
multiply_linear_by_lr: ApplyFtrl ApplyFtrlV2 ResourceApplyFtrl ResourceApplyFtrlV2 ResourceSparseApplyFtrl
multiply_linear_by_lr: ResourceSparseApplyFtrlV2 SparseApplyFtrl SparseApplyFtrlV2
narrow_range: Dequantize QuantizeV2
offset: InitializeTableFromTextFile InitializeTableFromTextFileV2
perturb_singular: TridiagonalSolve
ragged_keys ragged_split_types ragged_value_types: ParseExampleDataset
ram_budget: ModelDataset
replicate_on_split: RangeDataset TensorSliceDataset
reshuffle_each_iteration: ShuffleAndRepeatDataset
resize_if_index_out_of_bounds: TensorListSetItem
shape_type: ConcatOffset
sparse_gradient: SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
sparse_gradient: SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
stop_on_empty_dataset: DirectedInterleaveDataset
use_default_device: ScanDataset
validate_shape: AssignVariableOp
"""


@functools.cache
def younger_attrs() -> dict[str, frozenset[str]]:
    """Return the younger attrs of each op that has some.

    >>> sorted(younger_attrs()["MatMul"])
    ['grad_a', 'grad_b']
    """
    found: dict[str, set[str]] = {}
    for line in _ATTRS_AND_OPS.split("\n"):
        attrs, _, ops = line.partition(":")
        for op in ops.split():
            found.setdefault(op, set()).update(attrs.split())
    return {op: frozenset(attrs) for op, attrs in found.items()}
