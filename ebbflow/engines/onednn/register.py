"""Which ops oneDNN serves, and from which size on.

A row says what a planner needs to know of an op's inputs and attrs. Importing this file gives the ops their engine:
`add_engine` for calls that come one by one, where a new shape costs a millisecond of planning, so that small arrays
stay with NumPy; `prepare` for Programs, which plan once. float32 only. Element-wise ops are prepared only: an engine
would cost their small uses more than it gives the large ones.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes, memory
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.engines.onednn import library
from ebbflow.platform import blas  # noqa: F401 (NumPy's BLAS keeps to the same threads)

if TYPE_CHECKING:
    from ebbflow.engines.onednn.chain import Plan

FLOAT32 = np.dtype(np.float32)


class Service(NamedTuple):
    """How an op is served."""

    op: str
    inputs: str  # of each input the planner is given: x its shape, v its value, s its value (it is the result's shape)
    attrs: str
    plan: Callable[..., Plan | None]
    least: tuple[int | None, int] = (1 << 14, 1 << 11)  # from which size on: a single call (None: never), a Program's
    rows: int = 0  # numbers of a row from which on: in single calls, shorter ones are better off elsewhere
    product: str = ""  # of matrices: the size is the multiplications; this attr says whether the first is transposed


def later(target: str, *first: Any, **named: Any) -> Callable[..., Plan | None]:
    """Return a planner, by its file and name, with some arguments given; the file is loaded when it is first used."""

    @functools.cache
    def found() -> Callable[..., Plan | None]:
        file, _, name = target.partition(".")
        return partial(getattr(importlib.import_module(f"{__package__}.{file}"), name), *first, **named)

    return lambda *given: found()(*given)


def _multiplications(a: tuple[int, ...], b: tuple[int, ...], transposed: bool | None) -> int:
    """Return how many multiplications a product of these shapes takes, the first of them transposed or not."""
    if len(a) < 2 or len(b) < 2:
        return 0
    inner = a[-2 if transposed else -1]
    return math.prod(a) * b[-1] * b[-2] // inner if inner else 0


# --- the table --------------------------------------------------------------------------------------------------------

_CONV = "strides padding explicit_paddings data_format dilations"
_POOL = "ksize strides padding explicit_paddings data_format"
_NORM = "epsilon exponential_avg_factor data_format is_training"
_OWN = {"depthwise": True}
_PRODUCT = ((1 << 18) + 1,) * 2  # where OpenBLAS wakes threads, which then keep a CPU busy for 25 ms: they never do
_PREPARED = (None, 1 << 15)

SERVICES = (
    Service("Conv2D", "xx", _CONV, later("conv.forward")),
    Service("Conv3D", "xx", _CONV, later("conv.forward")),
    Service("DepthwiseConv2dNative", "xx", _CONV, later("conv.forward", **_OWN)),
    Service("Conv2DBackpropInput", "sxx", _CONV, later("conv.to_input")),
    Service("Conv3DBackpropInputV2", "sxx", _CONV, later("conv.to_input")),
    Service("DepthwiseConv2dNativeBackpropInput", "sxx", _CONV, later("conv.to_input", **_OWN)),
    Service("Conv2DBackpropFilter", "xsx", _CONV, later("conv.to_filter")),
    Service("Conv3DBackpropFilterV2", "xsx", _CONV, later("conv.to_filter")),
    Service("DepthwiseConv2dNativeBackpropFilter", "xsx", _CONV, later("conv.to_filter", **_OWN)),
    Service("MaxPool", "x", _POOL, later("pool.forward", "max")),
    Service("MaxPoolV2", "xvv", "padding explicit_paddings data_format", later("pool.forward", "max", out=3)),
    Service("MaxPool3D", "x", _POOL, later("pool.forward", "max")),
    Service("AvgPool", "x", _POOL, later("pool.forward", "mean")),
    Service("AvgPool3D", "x", _POOL, later("pool.forward", "mean")),
    Service("MaxPoolGrad", "xxx", _POOL, later("pool.max_back")),
    Service("MaxPoolGradV2", "xxxvv", "padding explicit_paddings data_format", later("pool.max_back", out=5)),
    Service("AvgPoolGrad", "sx", "ksize strides padding data_format", later("pool.mean_back")),
    Service("AvgPool3DGrad", "sx", "ksize strides padding data_format", later("pool.mean_back")),
    Service("FusedBatchNorm", "xxxxx", _NORM, later("norm.fused")),
    Service("FusedBatchNormV2", "xxxxx", _NORM, later("norm.fused")),
    Service("FusedBatchNormV3", "xxxxx", _NORM, later("norm.fused", outputs=6)),
    Service("FusedBatchNormGrad", "xxxxx", "epsilon data_format is_training", later("norm.fused_back")),
    Service("FusedBatchNormGradV2", "xxxxx", "epsilon data_format is_training", later("norm.fused_back")),
    Service("FusedBatchNormGradV3", "xxxxxx", "epsilon data_format is_training", later("norm.fused_back", out=6)),
    Service("Softmax", "x", "", later("softmax.forward"), rows=65),
    Service(
        "MatMul",
        "xx",
        "transpose_a transpose_b",
        later("matmul.product", batches="none"),
        _PRODUCT,
        product="transpose_a",
    ),
    Service("BatchMatMul", "xx", "adj_x adj_y", later("matmul.product", batches="equal"), _PRODUCT, product="adj_x"),
    Service(
        "BatchMatMulV2", "xx", "adj_x adj_y", later("matmul.product", batches="broadcast"), _PRODUCT, product="adj_x"
    ),
    Service(
        "BatchMatMulV3", "xx", "adj_x adj_y", later("matmul.product", batches="broadcast"), _PRODUCT, product="adj_x"
    ),
    Service("Sigmoid", "x", "", later("eltwise.forward", activation="sigmoid"), _PREPARED),
    Service("ReluGrad", "xx", "", later("eltwise.slope_op", activation="relu"), _PREPARED),
    Service("SigmoidGrad", "xx", "", later("eltwise.slope_op", activation="sigmoid", of_result=True), _PREPARED),
    Service("TanhGrad", "xx", "", later("eltwise.slope_op", activation="tanh", of_result=True), _PREPARED),
)


# --- giving it to the ops ---------------------------------------------------------------------------------------------


def attach(service: Service, op: Op) -> None:
    """Let an op be served."""
    least = service.least[0]
    op.prepare(partial(prepared, service))
    if least is not None:
        op.add_engine(_wins(service, least), partial(_kernel, service, op))


def _wins(service: Service, least: int) -> Callable[[Sequence[np.ndarray], Any], bool]:
    first, last = service.inputs.index("x"), service.inputs.rindex("x")

    def wins(arrays: Sequence[np.ndarray], attrs: dict[str, Any]) -> bool:
        x, y = arrays[first], arrays[last]
        if x.dtype is not FLOAT32 or (service.rows and x.shape[-1] < service.rows):
            return False
        product = service.product
        size = _multiplications(x.shape, y.shape, attrs.get(product)) if product else max(x.size, y.size)
        return size >= least and library.serves()

    return wins


def _kernel(service: Service, op: Op, arrays: Sequence[np.ndarray], attrs: dict[str, Any]) -> Any:
    plan = None
    if attrs.get("Tout", dtypes.float32) is dtypes.float32:
        given = []
        for kind, array in zip(service.inputs, arrays, strict=True):
            if array.dtype is not FLOAT32 if kind == "x" else array.ndim != 1:
                break
            given.append(array.shape if kind == "x" else tuple(array.tolist()))
        else:
            plan = service.plan(*given, *[attrs.get(name) for name in service.attrs.split()])
    if plan is None:
        return op.kernel_fn(np, *arrays, **{name: attrs[name] for name in op.kernel_attrs})
    results = [memory.empty(shape) for shape in plan.outputs]
    plan.call(*arrays, *results)
    return results[0] if len(results) == 1 else results


def prepared(service: Service, knowns: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any]) -> Any:
    """Return a function of inputs and outputs for a Program, or None; see `Op.prepare`."""
    given: list[tuple[int, ...]] = []
    for kind, known in zip(service.inputs, knowns, strict=True):
        if kind == "s" and known.rank == 1:
            given.append(tuple(outputs[0]))
        elif kind == "v" and known.rank == 1 and known.value is not None:
            given.append(tuple(known.value.tolist()))
        elif kind == "x" and known.dtype is dtypes.float32:
            given.append(tuple(known.dims))
        else:
            return None
    product = service.product
    size = _multiplications(*given, attrs.get(product)) if product else max(map(math.prod, given))  # type: ignore[arg-type,call-arg]
    if attrs.get("Tout", dtypes.float32) is not dtypes.float32 or size < service.least[1]:
        return None
    plan = service.plan(*given, *[attrs.get(name) for name in service.attrs.split()])
    fits = plan is not None and all(
        wanted is None or tuple(wanted) == shape for wanted, shape in zip(outputs, plan.outputs, strict=True)
    )
    return plan.call if fits else None  # type: ignore[union-attr]


if library.suits():
    for _service in SERVICES:
        registry.when_declared(_service.op, partial(attach, _service))
