"""Cases for convolutions of images and volumes and for the ops that are their gradients.

A row is a geometry (image, filter, stride, dilation, padding); a convolution and the two ops that are its gradients go
through the same rows, the sizes of the output following from the geometry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ops_rows import FLOAT, D, L, bad, case, op


@dataclass(frozen=True)
class Geometry:
    """Image (N, sizes, C), filter (sizes, ins, outs), channels last."""

    image: tuple
    filter: tuple
    strides: tuple = ()
    padding: str = "VALID"
    dilations: tuple = ()
    explicit: tuple = ()  # pairs, one a spatial axis
    first: bool = False  # channels first
    second: bool = False
    depthwise: bool = field(default=False)

    @property
    def axes(self) -> int:
        return len(self.image) - 2

    def attrs(self) -> dict:
        axes, ones = self.axes, (1,) * self.axes
        strides, dilations = self.strides or ones, self.dilations or ones
        spread = (lambda v: [1, 1, *v]) if self.first else (lambda v: [1, *v, 1])
        made = {"strides": spread(strides), "padding": self.padding}
        if self.dilations:
            made["dilations"] = spread(dilations)
        if self.explicit:
            pairs = [0, 0, 0, 0, *self.explicit] if self.first else [0, 0, *self.explicit, 0, 0]
            made["explicit_paddings"] = pairs
        if self.first:
            made["data_format"] = {2: "NCHW", 3: "NCDHW"}[axes]
        return made

    def layout(self, shape: tuple) -> tuple:
        return (shape[0], shape[-1], *shape[1:-1]) if self.first else shape

    def output(self) -> tuple:
        sizes = []
        for i in range(self.axes):
            reach = (self.filter[i] - 1) * (self.dilations[i] if self.dilations else 1) + 1
            step = self.strides[i] if self.strides else 1
            extra = sum(self.explicit[2 * i : 2 * i + 2]) if self.explicit else 0
            size = self.image[1 + i] + extra
            sizes.append(-(-size // step) if self.padding == "SAME" else max(0, -(-(size - reach + 1) // step)))
        channels = self.filter[-1] * self.filter[-2] if self.depthwise else self.filter[-1]
        return self.layout((self.image[0], *sizes, channels))


def text(shape: tuple) -> str:
    return " ".join(str(d) for d in shape)


G = Geometry
PLANE = [
    G((1, 3, 3, 1), (2, 2, 1, 1)),
    G((1, 3, 3, 1), (2, 2, 1, 1), padding="SAME"),
    G((2, 3, 2, 2), (2, 2, 2, 3), padding="SAME"),
    G((1, 4, 4, 2), (3, 3, 2, 1), (2, 2), "SAME"),
    G((1, 5, 4, 1), (2, 2, 1, 2), (2, 1), "VALID"),
    G((1, 5, 5, 1), (2, 2, 1, 1), padding="VALID", dilations=(2, 2)),
    G((1, 4, 5, 1), (2, 3, 1, 1), padding="SAME", dilations=(1, 2)),
    G((1, 3, 3, 2), (1, 1, 2, 2), padding="VALID"),
    G((1, 3, 3, 1), (1, 1, 1, 1), (2, 2), "SAME"),
    G((1, 2, 2, 1), (3, 3, 1, 1), padding="SAME"),
    G((1, 3, 3, 1), (2, 2, 1, 1), padding="EXPLICIT", explicit=(1, 0, 0, 2)),
    G((1, 3, 2, 2), (2, 2, 2, 1), (2, 1), "EXPLICIT", explicit=(1, 1, 2, 0)),
    G((1, 3, 3, 2), (2, 2, 2, 1), padding="SAME", first=True),
    G((1, 4, 3, 1), (2, 2, 1, 2), (2, 1), "VALID", first=True),
    G((1, 3, 3, 1), (2, 2, 1, 1), padding="EXPLICIT", explicit=(1, 0, 0, 1), first=True),
    G((1, 4, 4, 1), (2, 2, 1, 1), dilations=(2, 1), first=True),
    G((0, 3, 3, 1), (2, 2, 1, 2)),
    G((1, 3, 3, 1), (2, 2, 1, 2), padding="SAME", second=True),
    G((1, 4, 3, 2), (2, 2, 2, 1), (2, 1), second=True),
]
VOLUME = [
    G((1, 2, 3, 2, 1), (2, 2, 1, 1, 1)),
    G((1, 2, 2, 3, 1), (2, 1, 2, 1, 2), padding="SAME"),
    G((1, 3, 3, 3, 1), (2, 2, 2, 1, 1), (2, 2, 2), "SAME"),
    G((1, 3, 2, 2, 2), (2, 1, 1, 2, 1), (1, 2, 1)),
    G((2, 1, 2, 2, 1), (1, 2, 2, 1, 1)),
    G((1, 2, 2, 2, 1), (1, 1, 1, 1, 1)),
    G((1, 2, 2, 2, 1), (2, 1, 1, 1, 2), first=True),
    G((1, 2, 3, 2, 2), (2, 2, 1, 2, 1), padding="SAME", first=True),
    G((0, 2, 2, 2, 1), (1, 1, 1, 1, 1)),
    G((1, 3, 3, 2, 1), (2, 2, 1, 1, 1), dilations=(2, 1, 1)),
    G((1, 3, 2, 3, 1), (2, 1, 2, 1, 1), padding="SAME", dilations=(2, 1, 2)),
    G((1, 2, 2, 2, 1), (2, 1, 1, 1, 1), padding="SAME", second=True),
]
DEPTH = [
    G((1, 3, 3, 1), (2, 2, 1, 1)),
    G((1, 3, 3, 2), (2, 2, 2, 1), padding="SAME"),
    G((1, 3, 2, 2), (2, 1, 2, 2), padding="SAME"),
    G((2, 4, 4, 1), (2, 2, 1, 2), (2, 2)),
    G((1, 4, 4, 2), (3, 3, 2, 1), (2, 2), "SAME"),
    G((1, 3, 3, 2), (1, 1, 2, 1)),
    G((1, 3, 3, 1), (2, 2, 1, 1), padding="EXPLICIT", explicit=(1, 0, 0, 2)),
    G((1, 3, 3, 2), (2, 2, 2, 1), padding="SAME", first=True),
    G((1, 3, 4, 1), (2, 2, 1, 2), (1, 1), first=True),
    G((1, 5, 4, 1), (2, 2, 1, 2), dilations=(2, 2)),
    G((1, 4, 4, 2), (2, 2, 2, 1), padding="SAME", dilations=(2, 1)),
    G((1, 3, 3, 2), (2, 2, 2, 1), padding="SAME", second=True),
]


def cases() -> Iterator[dict]:
    yield from triple("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", PLANE, bad_planes())
    yield from triple("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", VOLUME, bad_volumes())
    depth = [Geometry(**{**vars(g), "depthwise": True}) for g in DEPTH]
    name = "DepthwiseConv2dNative"
    yield from triple(name, name + "BackpropInput", name + "BackpropFilter", depth, bad_planes()[:-1])
    whole = case(input=D("1 3 3 1"), filter=D("2 2 1 1"), strides=[1] * 4, padding="SAME", use_cudnn_on_gpu=False)
    yield from op("Conv2D", ("int32",), whole)


def triple(forward: str, to_input: str, to_filter: str, table: list[Geometry], wrong: list) -> Iterator[dict]:
    """Yield the cases of a convolution and of its two gradients."""
    rows: dict[str, list] = {forward: [], to_input: [], to_filter: []}
    for g in table:
        options = g.attrs() | ({"second": True, "dtypes": ["float64"]} if g.second else {})
        image, output = g.layout(g.image), g.output()
        rows[forward].append(case(input=D(text(image)), filter=D(text(g.filter)), **options))
        sizes = {"input_sizes": L("int32", list(image))}
        rows[to_input].append(case(**sizes, filter=D(text(g.filter)), out_backprop=D(text(output)), **options))
        sizes = {"filter_sizes": L("int32", list(g.filter))}
        rows[to_filter].append(case(input=D(text(image)), **sizes, out_backprop=D(text(output)), **options))
    if forward.startswith("Depthwise"):  # its gradients of an empty batch are left uninitialised
        rows[forward].append(
            case(input=D("0 3 3 1"), filter=D("2 2 1 1"), strides=[1] * 4, padding="VALID", no_grad=True)
        )
    rows[forward] += wrong
    rows[to_input] += bad_backprops("input_sizes", table[0])
    rows[to_filter] += bad_backprops("filter_sizes", table[0])
    for name, listed in rows.items():
        yield from op(name, FLOAT, *listed)


def bad_planes() -> list:
    ones = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    return [
        bad(input=D("1 3 3 2"), filter=D("2 2 3 1"), **ones),
        bad(input=D("1 2 2 1"), filter=D("3 3 1 1"), **ones),
        bad(input=D("3 3 1"), filter=D("2 2 1 1"), **ones),
        bad(input=D("1 3 3 1"), filter=D("2 2 1"), **ones),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), strides=[1, 0, 1, 1], padding="VALID"),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), strides=[2, 1, 1, 1], padding="VALID"),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), strides=[1, 1, 1], padding="VALID"),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), strides=[1, 1, 1, 1], padding="FULL"),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), dilations=[1, 0, 1, 1], **ones),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0], **ones),
        bad(
            input=D("1 3 3 1"),
            filter=D("2 2 1 1"),
            strides=[1, 1, 1, 1],
            padding="EXPLICIT",
            explicit_paddings=[0, 0, -1, 1, 0, 0, 0, 0],
        ),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1", dtype="float64"), **ones),
        bad(input=D("1 3 3 1"), filter=D("2 2 1 1"), data_format="NWHC", **ones),
        bad(input=D("1 3 3 1", dtype="string"), filter=D("2 2 1 1", dtype="string"), **ones),
        bad(input=D("1 3 3 3"), filter=D("2 2 2 1"), **ones),
    ]


def bad_volumes() -> list:
    ones = {"strides": [1] * 5, "padding": "VALID"}
    return [
        bad(input=D("1 2 2 2 2"), filter=D("1 1 1 3 1"), **ones),
        bad(input=D("2 2 2 1"), filter=D("1 1 1 1 1"), **ones),
        bad(input=D("1 2 2 2 1"), filter=D("1 1 1 1"), **ones),
        bad(input=D("1 2 2 2 1"), filter=D("1 1 1 1 1"), strides=[2, 1, 1, 1, 1], padding="VALID"),
        bad(input=D("1 2 2 2 1"), filter=D("1 1 1 1 1"), strides=[1] * 4, padding="VALID"),
        bad(input=D("1 2 2 2 1"), filter=D("1 1 1 1 1"), strides=[1] * 5, padding="EXPLICIT"),
    ]


def bad_backprops(sizes: str, g: Geometry) -> list:
    other = {"filter": D(text(g.filter))} if sizes == "input_sizes" else {"input": D(text(g.image))}
    whole = list(g.image if sizes == "input_sizes" else g.filter)
    output, attrs = g.output(), g.attrs()
    grown = (*output[:1], output[1] + 1, *output[2:])
    return [
        bad(**{sizes: L("int32", whole)}, **other, out_backprop=D(text(grown)), **attrs),
        bad(**{sizes: L("int32", whole[:-2])}, **other, out_backprop=D(text(output)), **attrs),
        bad(**{sizes: L("int32", [whole])}, **other, out_backprop=D(text(output)), **attrs),
        bad(**{sizes: L("int32", whole)}, **other, out_backprop=D(text(output[1:])), **attrs),
        bad(**{sizes: L("float32", whole)}, **other, out_backprop=D(text(output)), **attrs),
    ]
