"""Images bent by flows: `contrib.image`'s dense and sparse warps, the splines they rest on, and `contrib.resampler`.

All of it is composed of ops, so gradients and graphs come with them. A place is (row, column), but for `resampler`,
whose places are (x, y).
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.checks.asserts import assert_greater_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast

TINY = 1e-10
"""The least square of a distance whose logarithm or root is taken."""


# --- neighbours -------------------------------------------------------------------------------------------------------


def _between(image: Any, y: Any, x: Any, zero_outside: bool) -> Any:
    """Return an image [b, h, w, c] at fractional places [b, n], linearly between its four neighbours."""
    sizes = raw.Shape(image)
    low_y, low_x = raw.Floor(y), raw.Floor(x)
    if not zero_outside:
        low_y, low_x = _kept(low_y, sizes[1] - 2), _kept(low_x, sizes[2] - 2)
    way_y, way_x = y - low_y, x - low_x
    if not zero_outside:
        way_y, way_x = (raw.Minimum(raw.Maximum(way, 0.0), 1.0) for way in (way_y, way_x))
    total = None
    for down, share_y in ((0, 1.0 - way_y), (1, way_y)):
        for across, share_x in ((0, 1.0 - way_x), (1, way_x)):
            row, column = cast(low_y, dtypes.int32) + down, cast(low_x, dtypes.int32) + across
            share = share_y * share_x
            if zero_outside:
                row, column, inside = _inside(row, column, sizes)
                share = share * cast(inside, share.dtype)
            part = raw.ExpandDims(share, -1) * gather_nd(image, stack([row, column], -1), batch_dims=1)
            total = part if total is None else total + part
    return total


def _kept(x: Any, high: Any) -> Any:
    return raw.Minimum(raw.Maximum(x, 0.0), cast(high, x.dtype))


def _inside(row: Any, column: Any, sizes: Any) -> tuple[Any, Any, Any]:
    """Return places moved into an image, and which of them were there."""
    flags = [raw.LogicalAnd(place >= 0, place < sizes[axis]) for place, axis in ((row, 1), (column, 2))]
    moved = [raw.Minimum(raw.Maximum(place, 0), sizes[axis] - 1) for place, axis in ((row, 1), (column, 2))]
    return moved[0], moved[1], raw.LogicalAnd(*flags)


def interpolate_bilinear(
    grid: TensorLike, query_points: TensorLike, name: str = "interpolate_bilinear", indexing: str = "ij"
) -> Tensor:
    """Return images [b, h, w, c] at places [b, n, 2] of (row, column), or of (x, y); the edge goes on outside."""
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name, "interpolate_bilinear", [grid, query_points]):
        grid, places = convert(grid, name="grid"), convert(query_points, name="query_points")
        if grid.shape.rank not in (None, 4):
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        if places.shape.rank not in (None, 3):
            raise errors.InvalidArgumentError(
                None, None, f"Query points must be 3 dimensional. Received size: {places.shape}"
            )
        sizes = raw.Shape(grid)
        large = [
            assert_greater_equal_v1(sizes[axis], 2, message=f"Grid {word} must be at least 2.")
            for axis, word in ((1, "height"), (2, "width"))
        ]
        with control_dependencies([check for check in large if check is not None]):
            grid = raw.Identity(grid)
        y, x = (0, 1) if indexing == "ij" else (1, 0)
        return _between(grid, places[..., y], places[..., x], zero_outside=False)


def dense_image_warp(image: TensorLike, flow: TensorLike, name: str = "dense_image_warp") -> Tensor:
    """Return images [b, h, w, c] in which each place shows what is `flow` [b, h, w, 2] before it.

    Places outside show what is at the edge. Images are at least two by two.
    """
    with name_scope(name, "dense_image_warp", [image, flow]):
        image, flow = convert(image), convert(flow)
        flow = flow if flow.dtype is image.dtype else cast(flow, image.dtype)
        sizes = raw.Shape(image)
        rows, columns = (cast(raw.Range(0, sizes[axis], 1), image.dtype) for axis in (1, 2))
        y, x = reshape(rows, [1, -1, 1]) - flow[..., 0], reshape(columns, [1, 1, -1]) - flow[..., 1]
        down, across = (reshape(p, [sizes[0], -1]) for p in (y, x))
        result = reshape(interpolate_bilinear(image, stack([down, across], -1)), sizes)
        result.set_shape(image.shape)
        return result


def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> Tensor:
    """Return images [b, h, w, c] at places `warp` [b, …, 2] of (x, y); there is 0 outside."""
    with name_scope(name, "resampler", [data, warp]):
        data, warp = convert(data, name="data"), convert(warp, name="warp")
        sizes = raw.Shape(warp)
        places = reshape(warp, [sizes[0], -1, 2])
        found = _between(data, places[..., 1], places[..., 0], zero_outside=True)
        result = reshape(found, concat([sizes[:-1], raw.Shape(data)[-1:]], 0))
        if warp.shape.rank is not None and data.shape.rank is not None:
            result.set_shape([*warp.shape.as_list()[:-1], data.shape[-1]])
        return result


# --- splines ----------------------------------------------------------------------------------------------------------


def _squares(a: Any, b: Any) -> Any:
    """Return the squared distance of each place of one kind [b, n, d] to each of another."""
    own, others = (raw.Sum(p * p, 2, keep_dims=True) for p in (a, b))
    return own - 2.0 * raw.BatchMatMulV2(a, b, adj_y=True) + raw.Transpose(others, [0, 2, 1])


def _spread(squares: Any, order: int) -> Any:
    """Return what a place at a distance counts: r to the order, for an even one times log r."""
    if order == 1:
        return raw.Sqrt(raw.Maximum(squares, TINY))
    if order % 2:
        return raw.Pow(raw.Maximum(squares, TINY), 0.5 * order)
    lowest = raw.Maximum(squares, TINY)
    power = squares if order == 2 else raw.Square(squares) if order == 4 else raw.Pow(lowest, 0.5 * order)
    return 0.5 * power * raw.Log(lowest)


def _with_ones(points: Any) -> Any:
    return concat([points, raw.OnesLike(points[..., :1])], 2)


def interpolate_spline(
    train_points: TensorLike,
    train_values: TensorLike,
    query_points: TensorLike,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """Return at `query_points` [b, m, d] the polyharmonic spline with `train_values` [b, n, k] at `train_points`."""
    with name_scope(name, "interpolate_spline", [train_points, train_values, query_points]):
        points, values, query = convert(train_points), convert(train_values), convert(query_points)
        sizes = raw.Shape(points)
        near = _spread(_squares(points, points), order)
        if regularization_weight:
            near = near + regularization_weight * raw.MatrixDiag(raw.OnesLike(points[..., 0]))
        plane = _with_ones(points)
        width = sizes[2] + 1
        nothing = raw.Fill(stack([sizes[0], width, width]), convert(0.0, points.dtype))
        left = concat([concat([near, plane], 2), concat([raw.Transpose(plane, [0, 2, 1]), nothing], 2)], 1)
        below = raw.Fill(stack([sizes[0], width, raw.Shape(values)[2]]), convert(0.0, values.dtype))
        solved = raw.MatrixSolve(left, concat([values, below], 1))
        weights, slopes = solved[:, : sizes[1]], solved[:, sizes[1] :]
        bent = raw.BatchMatMulV2(_spread(_squares(query, points), order), weights)
        return bent + raw.BatchMatMulV2(_with_ones(query), slopes)


def _boundary(sizes: Any, per_edge: int, dtype: Any) -> Any:
    """Return the corners of an image, and as many places between them on each edge."""
    count = per_edge + 2
    lines = [
        [cast(sizes[axis] - 1, dtype) * (i / (count - 1)) for i in range(count)] for axis in (1, 2)
    ]  # fmt: skip
    edge = (0, count - 1)
    chosen = [(i, j) for i in range(count) for j in range(count) if i in edge or j in edge]
    return stack([stack([lines[0][i], lines[1][j]]) for i, j in chosen])


def sparse_image_warp(
    image: TensorLike,
    source_control_point_locations: TensorLike,
    dest_control_point_locations: TensorLike,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """Return images bent so that source places [b, n, 2] come to the destinations, and the flow that does it.

    `num_boundary_points` many places on each edge, counting one of its corners, stay where they are.
    """
    with name_scope(name, "sparse_image_warp", [image]):
        image = convert(image)
        source, target = convert(source_control_point_locations), convert(dest_control_point_locations)
        flows, sizes = target - source, raw.Shape(image)
        if num_boundary_points > 0:
            edge = raw.ExpandDims(_boundary(sizes, num_boundary_points - 1, target.dtype), 0)
            edges = raw.Tile(edge, stack([sizes[0], 1, 1]))
            target, flows = concat([target, edges], 1), concat([flows, raw.ZerosLike(edges)], 1)
        rows, columns = (cast(raw.Range(0, sizes[axis], 1), target.dtype) for axis in (1, 2))
        ones = raw.OnesLike
        grid = stack(
            [reshape(rows, [-1, 1]) * ones(columns), ones(reshape(rows, [-1, 1])) * columns], -1
        )  # fmt: skip
        query = raw.Tile(reshape(grid, [1, -1, 2]), stack([sizes[0], 1, 1]))
        bent = interpolate_spline(target, flows, query, interpolation_order, regularization_weight)
        dense = reshape(bent, concat([sizes[:3], [2]], 0))
        return dense_image_warp(image, dense), dense
