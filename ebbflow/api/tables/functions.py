"""The names of functions that run as graphs, and of the types they deal in."""

BOTH = """
[functions.atomic]
types.experimental.AtomicFunction
[functions.concrete]
ConcreteFunction as types.experimental.ConcreteFunction
[functions.function]
function
Function as types.experimental.GenericFunction types.experimental.PolymorphicFunction
[functions.signature]
types.experimental.FunctionType
[functions.xla_experimental]
xla.experimental.: compile jit_scope
[functions.trace_types]
types.experimental.: Callable SupportsTracingProtocol TensorLike TraceType
"""

V1 = """
[state.graph_callable]
nn.graph_callable
[functions.wrap_function]
wrap_function
"""

V2 = """
"""
