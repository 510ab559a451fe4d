"""Ops that are nothing but an interface: TensorFlow has them so that graphs can be tried that mean nothing.

Such a node can be imported, exported, renamed and wired as any other; when it runs, it says that there is no kernel for
it, as TensorFlow does. Knows nothing of graphs.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import errors
from ebbflow.core.op import Op, op
from ebbflow.ops.declare import FLAT

INTERFACES = """
None() -> ()
A() -> (out:float)
B() -> (out:float)
Foo1(a:float, b:int32, c:int32) -> (d:float, e:int32)
Foo2(a:float, b:string, c:string) -> (d:float, e:int32)
Foo3(a:float, b:string, c:float) -> (d:float, e:int32)
TwoFloatInputs(a:float, b:float) -> ()
TwoFloatInputsFloatOutput(a:float, b:float) -> (c:float)
TwoFloatInputsIntOutput(a:float, b:float) -> (c:int32)
TwoFloatOutputs() -> (a:float, b:float)
RefInputFloatInput(a:Ref(float), b:float) -> ()
RefInputFloatInputIntOutput(a:Ref(float), b:float) -> (c:int32)
CopyOp(a:T) -> (b:T) | T: type
StringListAttr() -> () | a: list(string); b: string
FloatInput(a:float) -> ()
FloatOutput() -> (a:float)
FloatOutputStringOutput() -> (a:float, b:string)
FiveFloatOutputs() -> (a:float, b:float, c:float, d:float, e:float)
Int64Output() -> (out:int64)
IntAttr() -> (out:int64) | foo: int = 1
IntInput(a:int32) -> ()
IntInputFloatInput(a:int32, b:float) -> ()
IntInputIntOutput(a:int32) -> (b:int32)
IntOutput() -> (a:int32)
IntOutputFloatOutput() -> (a:int32, b:float)
TwoIntInputs(a:int32, b:int32) -> ()
TwoIntOutputs() -> (a:int32, b:int32)
ListInput(a:N*T) -> () | N: int >= 1; T: type
ListOutput() -> (a:list(T)) | T: list(type) >= 1
OpWithDefaultAttr() -> (a:int32) | default_float: float = 123.0
OpWithFutureDefaultAttr() -> ()
RefInputIntInput(a:Ref(int32), b:int32) -> ()
RefOutput() -> (a:Ref(int32))
RefOutputFloatOutput() -> (a:Ref(float), b:float)
TestAttr() -> (out:T) | T: type in [float,double] | stateful
"""


def _interface_only(line: str) -> Op:
    """Declare an op of an interface: of its outputs nothing is known but their dtypes, and it cannot run."""
    name = line.partition("(")[0]

    def shape(*inputs: Any) -> Any:
        count = len(declared.signature.outputs)
        return None if count == 1 else [None] * count

    def shapes_of_list(*inputs: Any, T: Any) -> list[None]:
        return [None] * len(T)

    def kernel(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        raise errors.InvalidArgumentError(
            None, None, f"No OpKernel was registered to support Op '{name}': it is an interface for graphs only"
        )

    declared = op(line, shape=shapes_of_list if "list(T)" in line else shape, kernel=kernel, gradient=FLAT)
    return declared


OPS = [_interface_only(line) for line in INTERFACES.split("\n") if line]
