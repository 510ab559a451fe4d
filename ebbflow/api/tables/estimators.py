"""What the package `tensorflow_estimator` asks of TensorFlow's inner modules, and the names of `tf.contrib.tpu`."""

BOTH = """
"""

V1 = """
[tf1.tpu]
tpu.: CrossShardOptimizer batch_parallel bfloat16_scope core cross_replica_sum initialize_system outside_compilation
tpu.: replicate rewrite shard shutdown_system
tpu.experimental.: AdagradParameters AdamParameters StochasticGradientDescentParameters
[doors.estimator_package]
estimator_v1 as estimator
[distribute.coordinated_estimators]
distribute.get_loss_reduction
[train.losses]
losses.Reduction
[ops.learning.sdca_ops]
SdcaFprint as train.sdca_fprint
SdcaOptimizer as train.sdca_optimizer
SdcaShrinkL1 as train.sdca_shrink_l1
"""

V2 = """
[doors.estimator_package]
estimator
[platform.gauges]
__internal__.monitoring.: BoolGauge Counter IntGauge Sampler StringGauge
"""

INSIDE = """
[api.inner_helpers]
python.framework.ops.internal_convert_to_tensor
[distribute.coordinated_estimators]
python.distribute.estimator_training.: init_run_config should_run_distribute_coordinator
[feature_column.base]
scope_name as python.feature_column.feature_column_v2._sanitize_column_name_for_variable_scope
check_batch_sizes as python.feature_column.feature_column_v2._verify_static_batch_size_equality
[feature_column.first_generation]
weighted_sum as python.feature_column.feature_column_v2._create_weighted_sum
[feature_column.serialization]
python.feature_column.feature_column_lib.: deserialize_feature_columns serialize_feature_columns
[train.step_counter]
python.training.training_util.GLOBAL_STEP_READ_KEY
get_or_create_global_step_read as python.training.training_util._get_or_create_global_step_read
[monitored.several_steps]
MultiStepStopAtStepHook as python.training.basic_session_run_hooks._MultiStepStopAtStepHook
MultiStepStopAfterNEvalsHook as python.training.evaluation._MultiStepStopAfterNEvalsHook
python.training.training.get_or_create_steps_per_run_variable
[platform.deprecation]
python.util.deprecation.hide_attribute_from_api
[platform.gauges]
python.profiler.trace.Trace
python.eager.monitoring.: BoolGauge Counter IntGauge Sampler StringGauge
[summary.profiler]
python.profiler.profiler_v2.: Profile ProfilerOptions start stop
python.eager.profiler.: Profiler ProfilerAlreadyRunningError ProfilerNotRunningError
start_v1 as python.eager.profiler.start
stop_v1 as python.eager.profiler.stop
save_result as python.eager.profiler.save
[platform.module_wrapper]
python.util.module_wrapper.TFModuleWrapper
python.util.tf_export.ESTIMATOR_API_NAME
tools.docs.doc_controls.inheritable_header
python.checkpoint.saveable_compat.legacy_saveable_name
[savedmodel.export_outputs]
python.saved_model.model_utils.export_output.: ClassificationOutput EvalOutput ExportOutput PredictOutput
python.saved_model.model_utils.export_output.: RegressionOutput TrainOutput
SupervisedOutput as python.saved_model.model_utils.export_output._SupervisedOutput
[savedmodel.export_signatures]
python.saved_model.model_utils.: EXPORT_TAG_MAP SIGNATURE_KEY_MAP build_all_signature_defs export_outputs_for_mode
python.saved_model.model_utils.: get_export_outputs get_temp_export_dir get_timestamped_export_dir
python.saved_model.model_utils.export_utils.: EXPORT_TAG_MAP SIGNATURE_KEY_MAP SINGLE_FEATURE_DEFAULT_NAME
python.saved_model.model_utils.export_utils.: SINGLE_LABEL_DEFAULT_NAME SINGLE_RECEIVER_DEFAULT_NAME
python.saved_model.model_utils.export_utils.: build_all_signature_defs export_outputs_for_mode get_export_outputs
python.saved_model.model_utils.export_utils.: get_temp_export_dir get_timestamped_export_dir
python.saved_model.path_helpers.: get_variables_dir get_variables_path
[state.variables]
_written as python.ops.ref_variable._to_proto_fn
Variable.from_proto as python.ops.ref_variable._from_proto_fn
[state.variable_scope]
pure_variable_scope as python.ops.variable_scope._pure_variable_scope
[core.composite]
TypeSpec as python.framework.type_spec.BatchableTypeSpec
[state.initializers]
python.ops.init_ops.Initializer
[functions.autograph.private_names]
ast.NodeTransformer as python.autograph.pyct.transformer.Base
[tf1.clustering]
python.ops.clustering_ops.: CLUSTERS_VAR_NAME COSINE_DISTANCE KMC2_INIT KMEANS_PLUS_PLUS_INIT RANDOM_INIT
python.ops.clustering_ops.: KMeans SQUARED_EUCLIDEAN_DISTANCE
[tf1.boosted_trees]
python.ops.boosted_trees_ops.: PruningMode QuantileAccumulator QuantileAccumulatorSaveable TreeEnsemble
[api.gen_ops]
boosted_trees_aggregate_stats as python.ops.boosted_trees_ops.boosted_trees_aggregate_stats
boosted_trees_bucketize as python.ops.boosted_trees_ops.boosted_trees_bucketize
boosted_trees_calculate_best_feature_split as python.ops.boosted_trees_ops.calculate_best_feature_split
boosted_trees_calculate_best_feature_split_v2 as python.ops.boosted_trees_ops.calculate_best_feature_split_v2
boosted_trees_calculate_best_gains_per_feature as python.ops.boosted_trees_ops.calculate_best_gains_per_feature
boosted_trees_center_bias as python.ops.boosted_trees_ops.center_bias
boosted_trees_create_quantile_stream_resource as python.ops.boosted_trees_ops.create_quantile_stream_resource
boosted_trees_example_debug_outputs as python.ops.boosted_trees_ops.example_debug_outputs
boosted_trees_make_quantile_summaries as python.ops.boosted_trees_ops.make_quantile_summaries
boosted_trees_make_stats_summary as python.ops.boosted_trees_ops.make_stats_summary
boosted_trees_predict as python.ops.boosted_trees_ops.predict
boosted_trees_quantile_stream_resource_add_summaries as python.ops.boosted_trees_ops.quantile_add_summaries
boosted_trees_quantile_stream_resource_deserialize as python.ops.boosted_trees_ops.quantile_resource_deserialize
boosted_trees_quantile_stream_resource_flush as python.ops.boosted_trees_ops.quantile_flush
boosted_trees_quantile_stream_resource_get_bucket_boundaries as python.ops.boosted_trees_ops.get_bucket_boundaries
boosted_trees_quantile_stream_resource_handle_op as python.ops.boosted_trees_ops.quantile_resource_handle_op
boosted_trees_sparse_aggregate_stats as python.ops.boosted_trees_ops.boosted_trees_sparse_aggregate_stats
boosted_trees_sparse_calculate_best_feature_split as python.ops.boosted_trees_ops.sparse_calculate_best_feature_split
boosted_trees_training_predict as python.ops.boosted_trees_ops.training_predict
boosted_trees_update_ensemble as python.ops.boosted_trees_ops.update_ensemble
boosted_trees_update_ensemble_v2 as python.ops.boosted_trees_ops.update_ensemble_v2
is_boosted_trees_quantile_stream_resource_initialized as python.ops.boosted_trees_ops.is_quantile_resource_initialized
[testing.benchmark]
python.platform.benchmark.Benchmark
[train.device_setter]
python.training.device_setter.STANDARD_PS_OPS
[tf1.tpu]
TPUEmbeddingColumn as python.tpu.feature_column._TPUEmbeddingColumn
TPUSharedEmbeddingColumn as python.tpu.feature_column._TPUSharedEmbeddingColumn
TPUEmbeddingColumn as python.tpu.feature_column_v2._TPUEmbeddingColumnV2
TPUEmbeddingColumn as python.tpu.feature_column_v2._TPUDeviceSpecificEmbeddingColumnV2
TPUSharedEmbeddingColumn as python.tpu.feature_column_v2._TPUSharedEmbeddingColumnV2
TPUSharedEmbeddingColumn as python.tpu.feature_column_v2._TPUSharedDeviceSpecificEmbeddingColumnV2
python.tpu.tpu.: outside_compilation replicate rewrite shard
TPUInferenceContext as python.tpu.tpu._TPUInferenceContext
python.tpu.tensor_tracer.TensorTracer
python.tpu.tpu_replication.outside_compilation
python.ops.control_flow_ops.: ControlFlowContext XLAControlFlowContext
python.tpu.tpu_function.: get_tpu_context tpu_shard_context
python.tpu.tpu_optimizer.CrossShardOptimizer
python.tpu.tpu_system_metadata.TPUSystemMetadata
python.tpu.training_loop.: repeat while_loop
python.tpu.ops.tpu_ops.cross_replica_sum
python.tpu.tpu_embedding.: AdagradParameters AdamParameters FtrlParameters MomentumParameters
python.tpu.tpu_embedding.: ProximalAdagradParameters RMSPropParameters StochasticGradientDescentParameters
[distribute.tpu]
python.tpu.topology.Topology
[doors.tpu_estimator]
python.tpu.tpu_estimator.: TPUEstimator TPUEstimatorSpec export_estimator_savedmodel
python.tpu.tpu_config.: InputPipelineConfig RunConfig TPUConfig
python.tpu.tpu_context.TPUContext
python.tpu.error_handling.ErrorRendezvous
"""

MODULES = """
core.protobuf.tpu.compilation_result_pb2 contrib.solvers
python.distribute.cluster_resolver.tpu_cluster_resolver
python.tpu.device_assignment python.tpu.functional python.tpu.preempted_hook python.tpu.session_support
python.tpu.tpu_embedding_gradient python.tpu.tpu_feed
python.autograph.converters.break_statements python.autograph.converters.continue_statements
python.autograph.converters.return_statements python.autograph.core.naming python.autograph.pyct.anno
python.autograph.pyct.common_transformers.anf python.autograph.pyct.compiler python.autograph.pyct.parser
python.autograph.pyct.qual_names python.autograph.pyct.templates
"""
"""Modules that are imported for what only a TPU needs, or to rewrite programs with TensorFlow's own AutoGraph (as
`tensorflow_probability.experimental` does); nothing stands in them here."""

CONTRIB = """
[doors.keras_package]
keras_v1 as contrib.keras
[doors.contrib_estimator.kept]
contrib.estimator.: BaselineEstimator DNNEstimator DNNLinearCombinedEstimator InMemoryEvaluatorHook LinearEstimator
contrib.estimator.: SavedModelEstimator add_metrics build_raw_supervised_input_receiver_fn call_logit_fn
contrib.estimator.: build_supervised_input_receiver_fn_from_input_fn dnn_logit_fn_builder linear_logit_fn_builder
contrib.estimator.: make_early_stopping_hook make_stop_at_checkpoint_step_hook read_eval_metrics stop_if_higher_hook
contrib.estimator.: stop_if_lower_hook stop_if_no_decrease_hook stop_if_no_increase_hook
contrib.estimator.python.estimator.early_stopping.: make_early_stopping_hook read_eval_metrics stop_if_higher_hook
contrib.estimator.python.estimator.early_stopping.: stop_if_lower_hook stop_if_no_decrease_hook
contrib.estimator.python.estimator.early_stopping.stop_if_no_increase_hook
contrib.estimator.python.estimator.hooks.: InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook
contrib.estimator.python.estimator.extenders.add_metrics
contrib.estimator.python.estimator.logit_fns.: call_logit_fn dnn_logit_fn_builder linear_logit_fn_builder
contrib.estimator.python.estimator.saved_model_estimator.SavedModelEstimator
[doors.contrib_estimator.heads]
contrib.estimator.: binary_classification_head logistic_regression_head multi_class_head poisson_regression_head
contrib.estimator.regression_head
contrib.estimator.python.estimator.head.: binary_classification_head logistic_regression_head multi_class_head
contrib.estimator.python.estimator.head.: poisson_regression_head regression_head
[doors.contrib_estimator.multi_label]
contrib.estimator.multi_label_head contrib.estimator.python.estimator.head.multi_label_head
[doors.contrib_estimator.multi_head]
contrib.estimator.multi_head contrib.estimator.python.estimator.multi_head.multi_head
[doors.contrib_estimator.extenders]
contrib.estimator.: clip_gradients_by_norm export_all_saved_models export_saved_model_for_mode forward_features
contrib.estimator.python.estimator.extenders.: clip_gradients_by_norm forward_features
contrib.estimator.python.estimator.export.: export_all_saved_models export_saved_model_for_mode
[doors.contrib_estimator.rnn]
contrib.estimator.: RNNClassifier RNNEstimator
contrib.estimator.python.estimator.rnn.: RNNClassifier RNNEstimator
[doors.contrib_estimator.replicas]
contrib.estimator.: TowerOptimizer replicate_model_fn
contrib.estimator.python.estimator.replicate_model_fn.: TowerOptimizer replicate_model_fn
[doors.contrib_estimator.boosted_trees]
contrib.estimator.: boosted_trees_classifier_train_in_memory boosted_trees_regressor_train_in_memory
contrib.estimator.python.estimator.boosted_trees.boosted_trees_classifier_train_in_memory
contrib.estimator.python.estimator.boosted_trees.boosted_trees_regressor_train_in_memory
[doors.learn.canned]
contrib.learn.: DNNClassifier DNNLinearCombinedClassifier DNNLinearCombinedRegressor DNNRegressor LinearClassifier
contrib.learn.: LinearRegressor PredictionKey ProblemType
[doors.learn.heads]
contrib.learn.: Head binary_svm_head multi_class_head multi_head multi_label_head no_op_train_fn poisson_regression_head
contrib.learn.regression_head
contrib.learn.python.learn.estimators.head.: Head binary_svm_head multi_class_head multi_head multi_label_head
contrib.learn.python.learn.estimators.head.: no_op_train_fn poisson_regression_head regression_head
[doors.learn.sdca]
contrib.linear_optimizer.: SDCAOptimizer SdcaModel SparseFeatureColumn
contrib.linear_optimizer.python.sdca_optimizer.SDCAOptimizer
contrib.linear_optimizer.python.sdca_estimator.: SDCALinearRegressor SDCALogisticClassifier
contrib.linear_optimizer.python.ops.sdca_ops.SdcaModel
contrib.linear_optimizer.python.ops.sparse_feature_column.SparseFeatureColumn
contrib.linear_optimizer.python.ops.sharded_mutable_dense_hashtable.ShardedMutableDenseHashTable
[doors.learn.with_head]
contrib.learn.: DNNEstimator DNNLinearCombinedEstimator LinearEstimator LogisticRegressor
contrib.learn.python.learn.estimators.dnn.DNNEstimator
contrib.learn.python.learn.estimators.linear.LinearEstimator
contrib.learn.python.learn.estimators.logistic_regressor.LogisticRegressor
[doors.learn.clusters]
contrib.learn.KMeansClustering contrib.learn.python.learn.estimators.kmeans.KMeansClustering
PackageKMeans as contrib.factorization.KMeansClustering
PackageKMeans as contrib.factorization.python.ops.kmeans.KMeansClustering
[doors.learn.estimator]
contrib.learn.: BaseEstimator Estimator ModeKeys ModelFnOps NotFittedError SKCompat
contrib.learn.python.learn.estimators.model_fn.: ModeKeys ModelFnOps
contrib.learn.python.learn.estimators.estimator.: BaseEstimator Estimator SKCompat
contrib.learn.python.learn.estimator.Estimator
[doors.learn.experiment]
contrib.learn.: Experiment ExportStrategy make_export_strategy
contrib.learn.python.learn.experiment.Experiment
contrib.learn.utils.saved_model_export_utils.make_export_strategy
contrib.learn.python.learn.utils.saved_model_export_utils.make_export_strategy
run as contrib.learn.learn_runner.run contrib.learn.python.learn.learn_runner.run
[doors.learn.inputs]
contrib.learn.: infer_real_valued_columns_from_input infer_real_valued_columns_from_input_fn
[doors.learn.run_config]
contrib.learn.: RunConfig TaskType
contrib.learn.python.learn.estimators.run_config.: Environment RunConfig TaskType
[doors.learn.serving]
contrib.learn.: InputFnOps build_parsing_serving_input_fn
contrib.learn.utils.: InputFnOps build_default_serving_input_fn build_parsing_serving_input_fn
contrib.learn.utils.input_fn_utils.: InputFnOps build_default_serving_input_fn build_parsing_serving_input_fn
contrib.learn.python.learn.utils.input_fn_utils.: InputFnOps build_default_serving_input_fn
contrib.learn.python.learn.utils.input_fn_utils.build_parsing_serving_input_fn
[doors.learn.data_files]
contrib.learn.datasets.: load_boston load_dataset load_iris
contrib.learn.datasets.base.: Dataset Datasets load_boston load_csv_with_header load_csv_without_header load_iris
contrib.learn.datasets.base.: maybe_download shrink_csv
[doors.learn.scores]
contrib.learn.python.learn.estimators._sklearn.: accuracy_score mean_squared_error train_test_split
[tf1.learn_models]
contrib.learn.models.: bidirectional_rnn get_rnn_model linear_regression linear_regression_zero_init
contrib.learn.models.: logistic_regression logistic_regression_zero_init
contrib.learn.python.learn.models.: bidirectional_rnn get_rnn_model linear_regression linear_regression_zero_init
contrib.learn.python.learn.models.: logistic_regression logistic_regression_zero_init
contrib.learn.ops.: categorical_variable embedding_lookup mean_squared_error_regressor rnn_decoder rnn_seq2seq
contrib.learn.ops.: seq2seq_inputs sequence_classifier softmax_classifier
contrib.learn.python.learn.ops.: categorical_variable embedding_lookup mean_squared_error_regressor rnn_decoder
contrib.learn.python.learn.ops.: rnn_seq2seq seq2seq_inputs sequence_classifier softmax_classifier
contrib.learn.python.learn.ops.embeddings_ops.: categorical_variable embedding_lookup
contrib.learn.python.learn.ops.losses_ops.: mean_squared_error_regressor softmax_classifier
contrib.learn.python.learn.ops.seq2seq_ops.: rnn_decoder rnn_seq2seq seq2seq_inputs sequence_classifier
[doors.learn.metric_spec]
contrib.learn.MetricSpec contrib.learn.python.learn.metric_spec.MetricSpec
[tf1.example_files]
contrib.learn.: read_batch_examples read_batch_features read_batch_record_features read_keyed_batch_examples
contrib.learn.: read_keyed_batch_examples_shared_queue read_keyed_batch_features read_keyed_batch_features_shared_queue
contrib.learn.io.: read_batch_examples read_batch_features read_batch_record_features read_keyed_batch_examples
contrib.learn.io.: read_keyed_batch_examples_shared_queue read_keyed_batch_features queue_parsed_features
contrib.learn.io.read_keyed_batch_features_shared_queue
[doors.learn.arrays_in]
contrib.learn.: extract_pandas_data extract_pandas_labels extract_pandas_matrix
contrib.learn.io.: extract_pandas_data extract_pandas_labels extract_pandas_matrix generator_input_fn numpy_input_fn
contrib.learn.io.pandas_input_fn
contrib.learn.python.learn.io.: extract_pandas_data extract_pandas_labels extract_pandas_matrix generator_input_fn
contrib.learn.python.learn.io.: numpy_input_fn pandas_input_fn
[tf1.data_feeder]
contrib.learn.python.learn.io.: HAS_DASK HAS_PANDAS setup_train_data_feeder
contrib.learn.python.learn.learn_io.data_feeder.: DataFeeder StreamingDataFeeder setup_predict_data_feeder
contrib.learn.python.learn.learn_io.data_feeder.setup_train_data_feeder
contrib.learn.python.learn.learn_io.: HAS_DASK HAS_PANDAS setup_train_data_feeder
[doors.learn.monitors]
contrib.learn.monitors.: BaseMonitor EveryN NanLoss PrintTensor RunHookAdapterForMonitors StepCounter StopAtStep
contrib.learn.monitors.: ValidationMonitor replace_monitors_with_hooks
contrib.learn.monitors.: CaptureVariable CheckpointSaver GraphDump LoggingTrainable SummarySaver get_default_monitors
contrib.learn.python.learn.monitors.: CaptureVariable CheckpointSaver GraphDump LoggingTrainable SummarySaver
contrib.learn.python.learn.monitors.get_default_monitors
contrib.learn.python.learn.monitors.: BaseMonitor EveryN NanLoss PrintTensor RunHookAdapterForMonitors
contrib.learn.python.learn.monitors.: StepCounter StopAtStep ValidationMonitor replace_monitors_with_hooks
[monitored.hooks]
contrib.learn.NanLossDuringTrainingError
[tf1.feature_columns]
contrib.layers.: bucketized_column crossed_column embedding_column one_hot_column real_valued_column
contrib.layers.: sparse_column_with_hash_bucket sparse_column_with_integerized_feature sparse_column_with_keys
contrib.layers.: sparse_column_with_vocabulary_file weighted_sparse_column
contrib.layers.: scattered_embedding_column shared_embedding_columns
contrib.layers.python.layers.feature_column.: bucketized_column crossed_column embedding_column one_hot_column
contrib.layers.python.layers.feature_column.: real_valued_column sparse_column_with_hash_bucket
contrib.layers.python.layers.feature_column.: sparse_column_with_integerized_feature sparse_column_with_keys
contrib.layers.python.layers.feature_column.: sparse_column_with_vocabulary_file weighted_sparse_column
real_valued_var_len_column as contrib.layers.python.layers.feature_column._real_valued_var_len_column
[tf1.column_kinds]
SparseIdLookupConfig as contrib.layers.python.layers.feature_column._SparseIdLookupConfig
[tf1.sparse_features]
contrib.slim.: scattered_embedding_lookup scattered_embedding_lookup_sparse
contrib.layers.python.ops.sparse_ops.: dense_to_sparse_tensor indicators_to_sparse_ids sparse_row_envelope
sampled_lookup as contrib.layers.python.layers.embedding_ops._sampled_scattered_embedding_lookup
sampled_lookup_sparse as contrib.layers.python.layers.embedding_ops._sampled_scattered_embedding_lookup_sparse
[ops.sparse.cross]
contrib.slim.sparse_feature_cross
[ops.nn.embedding_sparse]
embedding_lookup_sparse_v1 as contrib.slim.embedding_lookup_sparse_with_distributed_aggregation
[tf1.feature_inputs]
sequence_spec as contrib.layers.python.layers.feature_column._create_sequence_feature_spec_for_parsing
contrib.layers.make_place_holder_tensors_for_base_features
contrib.layers.: check_feature_columns create_feature_spec_for_parsing infer_real_valued_columns
contrib.layers.: input_from_feature_columns joint_weighted_sum_from_feature_columns
contrib.layers.: parse_feature_columns_from_examples parse_feature_columns_from_sequence_examples
contrib.layers.: sequence_input_from_feature_columns transform_features weighted_sum_from_feature_columns
contrib.layers.python.layers.feature_column.create_feature_spec_for_parsing
contrib.layers.python.layers.feature_column_ops.: check_feature_columns infer_real_valued_columns
contrib.layers.python.layers.feature_column_ops.: input_from_feature_columns joint_weighted_sum_from_feature_columns
contrib.layers.python.layers.feature_column_ops.: parse_feature_columns_from_examples
contrib.layers.python.layers.feature_column_ops.: parse_feature_columns_from_sequence_examples transform_features
contrib.layers.python.layers.feature_column_ops.: sequence_input_from_feature_columns
contrib.layers.python.layers.feature_column_ops.weighted_sum_from_feature_columns
Transformer as contrib.layers.python.layers.feature_column_ops._Transformer
[tf1.vocabulary]
contrib.learn.preprocessing.: ByteProcessor CategoricalProcessor CategoricalVocabulary VocabularyProcessor tokenizer
contrib.learn.python.learn.preprocessing.categorical.CategoricalProcessor
contrib.learn.preprocessing.text.: ByteProcessor VocabularyProcessor tokenizer
contrib.learn.python.learn.preprocessing.: ByteProcessor CategoricalVocabulary VocabularyProcessor tokenizer
contrib.learn.python.learn.preprocessing.text.: ByteProcessor CategoricalVocabulary VocabularyProcessor tokenizer
CategoricalVocabulary as contrib.learn.preprocessing.categorical_vocabulary.CategoricalVocabulary
[tf1.clustering]
contrib.factorization.: COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT KMeans RANDOM_INIT SQUARED_EUCLIDEAN_DISTANCE
contrib.factorization.python.ops.clustering_ops.: COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT KMeans RANDOM_INIT
contrib.factorization.python.ops.clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
[tf1.factorization]
contrib.factorization.WALSModel contrib.factorization.python.ops.factorization_ops.WALSModel
[tf1.mixtures]
contrib.factorization.: GmmAlgorithm gmm
contrib.factorization.python.ops.gmm_ops.: GmmAlgorithm gmm
[doors.learn.factorization]
contrib.factorization.: GMM WALSMatrixFactorization
contrib.factorization.python.ops.gmm.GMM
contrib.factorization.python.ops.wals.WALSMatrixFactorization
[tf1.series_input]
contrib.timeseries.: CSVReader FilteringResults NumpyReader RandomWindowInputFn TrainEvalFeatures WholeDatasetInputFn
contrib.timeseries.predict_continuation_input_fn
contrib.timeseries.python.timeseries.: CSVReader FilteringResults NumpyReader RandomWindowInputFn TrainEvalFeatures
contrib.timeseries.python.timeseries.: WholeDatasetInputFn predict_continuation_input_fn
contrib.timeseries.python.timeseries.input_pipeline.: CSVReader NumpyReader RandomWindowInputFn TimeSeriesReader
contrib.timeseries.python.timeseries.input_pipeline.: WholeDatasetInputFn predict_continuation_input_fn
contrib.timeseries.python.timeseries.feature_keys.: FilteringResults PredictionFeatures TrainEvalFeatures
[doors.learn.series]
contrib.timeseries.: ARModel ARRegressor TimeSeriesRegressor
contrib.timeseries.python.timeseries.: ARModel ARRegressor TimeSeriesRegressor
contrib.timeseries.python.timeseries.ar_model.: ARModel FlatPredictionModel
contrib.timeseries.python.timeseries.estimators.: ARRegressor TimeSeriesRegressor
[tf1.forest]
contrib.tensor_forest.python.tensor_forest.: ForestHParams ForestVariables RandomForestGraphs RandomTreeGraphs
contrib.tensor_forest.python.tensor_forest.: TreeVariables build_params_proto
contrib.tensor_forest.tensor_forest.: ForestHParams ForestVariables RandomForestGraphs RandomTreeGraphs
contrib.tensor_forest.tensor_forest.: TreeVariables build_params_proto
[doors.learn.forest]
contrib.tensor_forest.client.random_forest.: ALL_SERVING_KEY CoreTensorForestEstimator TREE_PATHS_PREDICTION_KEY
contrib.tensor_forest.client.random_forest.: TensorForestEstimator TensorForestLossHook TensorForestRunOpAtEndHook
contrib.tensor_forest.client.random_forest.VARIANCE_PREDICTION_KEY
contrib.tensor_forest.random_forest.: ALL_SERVING_KEY CoreTensorForestEstimator TREE_PATHS_PREDICTION_KEY
contrib.tensor_forest.random_forest.: TensorForestEstimator TensorForestLossHook TensorForestRunOpAtEndHook
contrib.tensor_forest.random_forest.VARIANCE_PREDICTION_KEY
[doors.learn.svm]
contrib.learn.SVM contrib.learn.python.learn.estimators.svm.SVM
[tf1.tpu]
contrib.tpu.: CrossShardOptimizer batch_parallel bfloat16_scope core cross_replica_sum initialize_system
contrib.tpu.: outside_compilation replicate repeat rewrite shard shutdown_system while_loop
contrib.tpu.python.tpu.tpu.: batch_parallel core initialize_system outside_compilation replicate rewrite shard
contrib.tpu.python.tpu.tpu.shutdown_system
contrib.tpu.python.tpu.tpu_optimizer.CrossShardOptimizer
contrib.tpu.python.tpu.tpu_function.: get_tpu_context tpu_shard_context
contrib.tpu.python.tpu.training_loop.: repeat while_loop
contrib.tpu.python.ops.tpu_ops.cross_replica_sum
contrib.tpu.python.tpu.bfloat16.bfloat16_scope
[doors.tpu_estimator]
contrib.tpu.: InputPipelineConfig RunConfig TPUConfig TPUEstimator TPUEstimatorSpec
contrib.tpu.export_estimator_savedmodel
contrib.tpu.python.tpu.tpu_estimator.: TPUEstimator TPUEstimatorSpec
contrib.tpu.python.tpu.tpu_config.: InputPipelineConfig RunConfig TPUConfig
contrib.tpu.python.tpu.tpu_context.TPUContext
contrib.tpu.python.tpu.error_handling.ErrorRendezvous
contrib.tpu.python.tpu.util.: check_positive_integer parse_iterations_per_loop
get_tpu_context as contrib.tpu.python.tpu.tpu_context._get_tpu_context
"""
