"""Names of TensorFlow's inside that belong to functions, their types, and AutoGraph: rows as in the other tables."""

ROWS = """
[functions.trace_type_api]
core.function.trace_type.: InternalCastContext InternalPlaceholderContext InternalTracingContext deserialize from_value
core.function.trace_type.: register_serializable serialize
core.function.trace_type.serialization.: deserialize register_serializable serialize
core.function.polymorphism.function_type.: canonicalize_to_monomorphic from_structured_signature
[functions.default_types]
core.function.trace_type.default_types.: Attrs Dict List Literal NamedTuple TENSOR Tuple Weakref
[functions.function_types]
core.function.polymorphism.function_type.: CAPTURED_DEFAULT_VALUE FunctionType Parameter sanitize_arg_name
python.eager.polymorphic_function.function_type_utils.is_same_structure
[functions.type_dispatch]
core.function.polymorphism.function_cache.: FunctionCache FunctionContext
core.function.polymorphism.type_dispatch.TypeDispatchTable
[functions.function_spec]
python.eager.polymorphic_function.function_type_utils.: FunctionSpec make_function_type
[functions.tracing_compilation]
python.eager.polymorphic_function.tracing_compilation.: TracingOptions call_function trace_function
[functions.autograph.operators]
python.autograph.operators.control_flow.: for_stmt if_stmt while_stmt
python.autograph.operators.logical.: and_ eq not_ not_eq or_
python.autograph.operators.variables.Undefined
[functions.autograph.python_functions]
all as python.autograph.operators.py_builtins.all_
any as python.autograph.operators.py_builtins.any_
enumerate as python.autograph.operators.py_builtins.enumerate_
filter as python.autograph.operators.py_builtins.filter_
float as python.autograph.operators.py_builtins.float_
int as python.autograph.operators.py_builtins.int_
len as python.autograph.operators.py_builtins.len_
map as python.autograph.operators.py_builtins.map_
max as python.autograph.operators.py_builtins.max_
min as python.autograph.operators.py_builtins.min_
print as python.autograph.operators.py_builtins.print_
range as python.autograph.operators.py_builtins.range_
sorted as python.autograph.operators.py_builtins.sorted_
sum as python.autograph.operators.py_builtins.sum_
zip as python.autograph.operators.py_builtins.zip_
[functions.autograph.status]
python.autograph.core.ag_ctx.: ControlStatusCtx Status control_status_ctx
"""
