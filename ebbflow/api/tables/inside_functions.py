"""Names of TensorFlow's inside: functions, their types, AutoGraph, and small plumbing: rows as in the other tables."""

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
[functions.function_protos]
python.framework.function.: from_library get_extra_args get_extra_inputs get_extra_vars
from_definition as python.framework.function._from_definition
python.ops.functional_ops.symbolic_gradient
[functions.typed_function]
DefinedFunction as python.framework.function._DefinedFunction
[functions.auto_control_deps]
python.framework.auto_control_deps.: AutomaticControlDependencies MUST_RUN_ORDER_INSENSITIVE_STATEFUL_OPS
python.framework.auto_control_deps.automatic_control_dependencies
python.framework.auto_control_deps_utils.: READ_ONLY_RESOURCE_INPUTS_ATTR get_read_write_resource_inputs
read_only_resource_positions as python.framework.auto_control_deps_utils._get_read_only_resource_input_indices_op
[functions.autograph.operators]
python.autograph.operators.control_flow.: for_stmt if_stmt while_stmt
python.autograph.operators.logical.: and_ eq not_ not_eq or_
python.autograph.operators.variables.Undefined
[api.inner_builtins]
python.autograph.operators.py_builtins.: abs_ all_ any_ enumerate_ filter_ float_ int_ len_ map_ max_ min_ next_ print_
python.autograph.operators.py_builtins.: range_ sorted_ sum_ zip_ UNSPECIFIED
python.autograph.operators.py_builtins.: eval_in_original_context globals_in_original_context locals_in_original_context
python.autograph.operators.py_builtins.super_in_original_context
python.autograph.core.function_wrappers.FunctionScope
python.autograph.operators.exceptions.assert_stmt
python.autograph.operators.conditional_expressions.if_exp
python.autograph.operators.variables.: ld ldu
python.autograph.utils.context_managers.control_dependency_on_returns
python.autograph.utils.misc.: alias_tensors get_range_len
python.autograph.lang.special_functions.match_staging_level
[api.inner_lists]
python.autograph.operators.data_structures.: ListPopOpts ListStackOpts list_append list_pop list_stack new_list
python.autograph.operators.data_structures.: tf_tensor_array_new tf_tensor_list_new
python.autograph.operators.slices.: GetItemOpts get_item set_item
python.autograph.utils.tensor_list.: TensorList dynamic_list_append
python.autograph.utils.tensors.: is_tensor_array is_tensor_list
python.autograph.lang.special_functions.: stack tensor_list
[functions.autograph.transpiler]
python.autograph.core.converter.: ConversionOptions ProgramContext STANDARD_OPTIONS
python.autograph.core.config.: CONVERSION_RULES Convert DoNotConvert
python.autograph.core.config_lib.: Convert DoNotConvert
python.autograph.impl.api.PyToTF
python.autograph.impl.conversion.is_allowlisted
[functions.autograph.status]
python.autograph.core.ag_ctx.: ControlStatusCtx Status control_status_ctx
[api.inner_plumbing]
python.framework.registry.Registry
reduction_axes as python.ops.math_grad._InferGradientReductionAxes
python.eager.graph_only_ops.graph_placeholder
python.eager.monitoring.: ExponentialBuckets MonitoredTimer MonitoredTimerSections monitored_timer
python.eager.record.VariableWatcher
python.framework.subscribe.subscribe
is_subscribed_identity as python.framework.subscribe._is_subscribed_identity
python.ops.control_flow_util_v2.: _DISABLE_LOWER_USING_SWITCH_MERGE _EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
[io.records]
RandomRecordReader as python.lib.io.tf_record.tf_record_random_reader
[core.spec]
python.framework.tensor.sanitize_spec_name python.framework.tensor_spec.sanitize_spec_name
"""
