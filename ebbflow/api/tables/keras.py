"""What Keras asks for besides public names: `tf.keras` itself, `tf.__internal__`, and the alias as which it is met."""

BOTH = """
"""

V2 = """
[core.composite]
__internal__.CompositeTensor
[core.tensor]
__internal__.EagerTensor
TensorBase as __internal__.types.Tensor
[doors.alias]
compat.alias.: install installed uninstall
[doors.keras_package]
keras
losses
metrics
optimizers
[functions.func_graph]
__internal__.FuncGraph
inside_function
[ops.ragged.partition]
experimental.RowPartition
[ops.ragged.forms]
experimental.DynamicRaggedShape
[ops.structured.array_ops]
experimental.StructuredTensor
[layers.smart_cond]
__internal__.smart_cond.smart_cond
[platform.early_eager]
__internal__.eager_context.eager_mode
[platform.eras]
tf2_enabled as __internal__.tf2.enabled
"""

INSIDE = """
[data.experimental_functions]
python.data.experimental.ops.distribute.compute_batch_size
[core.composite]
python.framework.type_spec.BatchableTypeSpec
register_converter as python.framework.type_spec.register_type_spec_from_value_converter
[core.spec_registry]
python.framework.type_spec_registry.: _NAME_TO_TYPE_SPEC _TYPE_SPEC_TO_NAME get_name lookup register
[api.gen_ops]
gen_ops as python.ops.linalg.sparse.sparse_csr_matrix_ops
[ops.arrays.dynamic_update]
compiler.tf2xla.python.xla.dynamic_update_slice
[platform.config]
python.framework.config.: disable_op_determinism enable_op_determinism is_op_determinism_enabled
[platform.early_eager]
python.eager.context.async_wait
[eager.the_context]
python.eager.context.: _reset_context _reset_jit_compiler_flags
"""
