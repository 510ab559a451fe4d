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
optimizers
[functions.func_graph]
__internal__.FuncGraph
inside_function
[ops.ragged.partition]
experimental.RowPartition
[ops.ragged.dynamic_shape]
experimental.DynamicRaggedShape
[layers.smart_cond]
__internal__.smart_cond.smart_cond
[platform.early_eager]
__internal__.eager_context.eager_mode
[platform.eras]
tf2_enabled as __internal__.tf2.enabled
[doors.keras_losses]
losses.: BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy
losses.: CategoricalHinge CosineSimilarity Hinge Huber KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE
losses.: MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
losses.: SparseCategoricalCrossentropy SquaredHinge binary_crossentropy binary_focal_crossentropy
losses.: categorical_crossentropy categorical_focal_crossentropy categorical_hinge cosine_similarity deserialize
losses.: get hinge huber kld kullback_leibler_divergence mae mape mse msle poisson serialize
losses.: sparse_categorical_crossentropy squared_hinge
[doors.keras_metrics]
metrics.: AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy
metrics.: CategoricalHinge CosineSimilarity F1Score FBetaScore FalseNegatives FalsePositives Hinge IoU KLD
metrics.: KLDivergence LogCoshError MAE MAPE MSE MSLE Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU
metrics.: MeanMetricWrapper MeanSquaredError MeanSquaredLogarithmicError Metric OneHotIoU OneHotMeanIoU Poisson
metrics.: Precision PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError
metrics.: SensitivityAtSpecificity SparseCategoricalAccuracy SparseCategoricalCrossentropy
metrics.: SparseTopKCategoricalAccuracy SpecificityAtSensitivity SquaredHinge Sum TopKCategoricalAccuracy
metrics.: TrueNegatives TruePositives binary_accuracy binary_crossentropy binary_focal_crossentropy
metrics.: categorical_accuracy categorical_crossentropy categorical_focal_crossentropy deserialize get hinge kld
metrics.: kullback_leibler_divergence mae mape mse msle poisson serialize sparse_categorical_accuracy
metrics.: sparse_categorical_crossentropy sparse_top_k_categorical_accuracy squared_hinge
metrics.: top_k_categorical_accuracy
"""

INSIDE = """
[data.experimental_functions]
python.data.experimental.ops.distribute.compute_batch_size
[core.composite]
python.framework.type_spec.BatchableTypeSpec
register_converter as python.framework.type_spec.register_type_spec_from_value_converter
[core.spec_registry]
python.framework.type_spec_registry.: get_name lookup register
[api.gen_ops]
gen_ops as python.ops.linalg.sparse.sparse_csr_matrix_ops
[ops.arrays.dynamic_update]
compiler.tf2xla.python.xla.dynamic_update_slice
[platform.config]
python.framework.config.: disable_op_determinism enable_op_determinism is_op_determinism_enabled
[platform.early_eager]
python.eager.context.async_wait
[eager.the_context]
python.eager.context._reset_context
"""
