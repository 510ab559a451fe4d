"""The names of `tf.distribute`: strategies, the replica that speaks, values of each replica."""

BOTH = """
[distribute.tpu]
tpu.experimental.: HardwareFeature initialize_tpu_system shutdown_tpu_system
[distribute.embedding]
tpu.experimental.embedding.: TPUEmbedding TPUEmbeddingForServing TPUEmbeddingV0 serving_embedding_lookup
[distribute.embedding_config]
tpu.experimental.embedding.: Adagrad AdagradMomentum Adam FTRL FeatureConfig QuantizationConfig
tpu.experimental.embedding.: RowIdInitializer SGD TableConfig
[cluster.resolvers]
distribute.cluster_resolver.: ClusterResolver GCEClusterResolver KubernetesClusterResolver KubernetesExecutableLocation
distribute.cluster_resolver.: SimpleClusterResolver SlurmClusterResolver TFConfigClusterResolver
distribute.cluster_resolver.: TPUClusterResolver UnionResolver
[cluster.server]
train.Server distribute.Server
[cluster.spec]
train.ClusterSpec
[distribute.central_storage]
distribute.experimental.CentralStorageStrategy
[distribute.communication]
distribute.experimental.: CollectiveHints CommunicationImplementation CommunicationOptions
CommunicationImplementation as distribute.experimental.CollectiveCommunication
[distribute.cross_device]
distribute.: CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice
[distribute.current]
distribute.: experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context
[distribute.datasets]
distribute.: InputContext InputReplicationMode
[distribute.default]
distribute.OneDeviceStrategy
[distribute.mirrored]
distribute.MirroredStrategy
[distribute.places]
config.: experimental_connect_to_cluster experimental_connect_to_host
[distribute.reduce_op]
distribute.ReduceOp
[distribute.replica]
distribute.ReplicaContext
[distribute.strategy]
distribute.: RunOptions Strategy
Extended as distribute.StrategyExtended
"""

V1 = """
[distribute.tpu]
TPUStrategyV1 as distribute.experimental.TPUStrategy
"""

V2 = """
[distribute.coordinator]
distribute.coordinator.ClusterCoordinator
distribute.experimental.coordinator.ClusterCoordinator
[distribute.parameter_server]
ParameterServerStrategyV2 as distribute.ParameterServerStrategy distribute.experimental.ParameterServerStrategy
[distribute.preemption]
distribute.experimental.: PreemptionCheckpointHandler TerminationConfig
[distribute.preemption_watcher]
distribute.experimental.PreemptionWatcher
[distribute.rpc]
distribute.experimental.rpc.: Client Server
[distribute.sharded_variable]
__internal__.distribute.ShardedVariable
[distribute.work]
distribute.coordinator.RemoteValue
distribute.experimental.coordinator.RemoteValue
distribute.experimental.coordinator.PerWorkerValues
[distribute.current]
__internal__.distribute.strategy_supports_no_merge_call
maybe_merge_call as __internal__.distribute.interim.maybe_merge_call
[distribute.datasets]
distribute.: DistributedDataset DistributedIterator InputOptions
[distribute.dtensor]
experimental.dtensor.: DTensorCheckpoint DTensorDataset
experimental.dtensor.: DVariable barrier call_with_layout check_layout copy_to_mesh default_mesh
experimental.dtensor.: device_name fetch_layout get_default_mesh initialize_accelerator_system is_dtensor pack relayout
experimental.dtensor.initialize_multi_client
experimental.dtensor.: relayout_like run_on shutdown_accelerator_system unpack
[distribute.dtensor_saving]
experimental.dtensor.: enable_save_as_bf16 full_job_name heartbeat_enabled job_name jobs name_based_restore
experimental.dtensor.: name_based_save sharded_save
[distribute.tpu]
distribute.TPUStrategy
ExperimentalTPUStrategy as distribute.experimental.TPUStrategy
tpu.experimental.Topology
[distribute.mesh]
experimental.dtensor.: Layout MATCH Mesh UNSHARDED client_id create_distributed_mesh create_mesh local_devices
experimental.dtensor.: num_clients num_global_devices num_local_devices preferred_device_type
[distribute.multi_worker]
distribute.MultiWorkerMirroredStrategy
[distribute.partitioners]
distribute.experimental.partitioners.: FixedShardsPartitioner MaxSizePartitioner MinSizePartitioner Partitioner
[distribute.strategy]
distribute.experimental.ValueContext
[distribute.values]
distribute.DistributedValues
types.experimental.distributed.: PerReplica Mirrored
"""

INSIDE = """
[cluster.resolvers]
python.distribute.cluster_resolver.: ClusterResolver SimpleClusterResolver TFConfigClusterResolver
python.distribute.cluster_resolver.: GCEClusterResolver KubernetesClusterResolver SlurmClusterResolver
UnionResolver as python.distribute.cluster_resolver.UnionClusterResolver
python.distribute.cluster_resolver.cluster_resolver.: ClusterResolver SimpleClusterResolver format_master_url
UnionResolver as python.distribute.cluster_resolver.cluster_resolver.UnionClusterResolver
python.distribute.cluster_resolver.gce_cluster_resolver.GCEClusterResolver
python.distribute.cluster_resolver.kubernetes_cluster_resolver.: KubernetesClusterResolver
KubernetesExecutableLocation as python.distribute.cluster_resolver.kubernetes_cluster_resolver.ExecutableLocation
python.distribute.cluster_resolver.slurm_cluster_resolver.: SlurmClusterResolver expand_hostlist expand_tasks_per_node
python.distribute.cluster_resolver.tfconfig_cluster_resolver.TFConfigClusterResolver
[cluster.members]
python.distribute.multi_worker_util.: normalize_cluster_spec task_count is_chief collective_leader coordination_leader
python.distribute.multi_worker_util.: worker_count id_in_cluster
validated as python.distribute.multi_worker_util._validate_cluster_spec
[testing.combinations]
python.distribute.combinations.: NamedObject OptionalParameter ParameterModifier combine times
[testing.strategy_combinations]
python.distribute.combinations.: NamedDistribution in_main_process main no_tf_function tf_function
generate_with_strategies as python.distribute.combinations.generate
python.distribute.test_util.: gather main set_logical_devices_to_at_least
python.distribute.strategy_combinations.: all_strategies all_strategies_minus_default graph_and_eager_modes
python.distribute.strategy_combinations.: multi_worker_strategies set_virtual_cpus_to_at_least
python.distribute.strategy_combinations.: strategies_minus_default_and_tpu strategies_minus_tpu tpu_strategies
python.distribute.strategy_combinations.: two_replica_strategies default_strategy one_device_strategy
python.distribute.strategy_combinations.: one_device_strategy_gpu mirrored_strategy_with_one_cpu
python.distribute.strategy_combinations.: mirrored_strategy_with_one_gpu mirrored_strategy_with_two_cpus
python.distribute.strategy_combinations.: mirrored_strategy_with_cpu_1_and_2 cloud_tpu_strategy
python.distribute.strategy_combinations.: mirrored_strategy_with_gpu_and_cpu mirrored_strategy_with_two_gpus
python.distribute.strategy_combinations.: mirrored_strategy_with_two_gpus_no_merge_call tpu_strategy
python.distribute.strategy_combinations.: central_storage_strategy_with_two_gpus tpu_strategy_one_core
python.distribute.strategy_combinations.: central_storage_strategy_with_gpu_and_cpu tpu_strategy_packed_var
python.distribute.strategy_combinations.: multi_worker_mirrored_2x1_cpu multi_worker_mirrored_2x1_gpu
python.distribute.strategy_combinations.: multi_worker_mirrored_2x2_gpu parameter_server_strategy_1worker_2ps_cpu
python.distribute.strategy_combinations.: parameter_server_strategy_1worker_2ps_1gpu
python.distribute.strategy_combinations.: parameter_server_strategy_3worker_2ps_cpu
python.distribute.strategy_combinations.: parameter_server_strategy_3worker_2ps_1gpu
[distribute.communication]
python.distribute.collective_util.: CommunicationImplementation
CommunicationOptions as python.distribute.collective_util.Options python.distribute.collective_util._OptionsExported
CollectiveHints as python.distribute.collective_util.Hints
[distribute.cross_device]
python.distribute.cross_device_ops.: CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice
[distribute.device_util]
python.distribute.device_util.: canonicalize canonicalize_without_job_and_task resolve current get_host_for_device
python.distribute.device_util.local_devices_from_num_gpus
[distribute.coordinator]
python.distribute.coordinator.cluster_coordinator.: ClusterCoordinator
[distribute.work]
python.distribute.coordinator.cluster_coordinator.: ClosureInputError ClosureAbortedError
python.distribute.coordinator.remote_value.RemoteValue
[distribute.parameter_server]
python.distribute.parameter_server_strategy_v2.ParameterServerStrategyV2
[distribute.sharded_variable]
python.distribute.sharded_variable.ShardedVariable
[distribute.partitioners]
python.distribute.sharded_variable.: FixedShardsPartitioner MaxSizePartitioner MinSizePartitioner Partitioner
[distribute.current]
python.distribute.distribution_strategy_context.: get_replica_context get_strategy has_strategy in_cross_replica_context
python.distribute.distribute_lib.: get_replica_context get_strategy has_strategy in_cross_replica_context
python.distribute.distribute_lib.: get_update_replica_id experimental_set_strategy
python.distribute.merge_call_interim.: maybe_merge_call strategy_supports_no_merge_call
[distribute.datasets]
python.distribute.distribute_lib.: InputContext InputOptions InputReplicationMode
python.distribute.input_lib.: DistributedDataset DistributedDatasetsFromFunction DistributedIterator
[distribute.default]
python.distribute.one_device_strategy.OneDeviceStrategy
python.distribute.distribute_lib._DefaultDistributionStrategy
[distribute.distributed_variable]
python.distribute.values.: DistributedVariable MirroredVariable SyncOnReadVariable
[distribute.mirrored]
python.distribute.mirrored_strategy.MirroredStrategy
[distribute.reduce_op]
python.distribute.reduce_util.ReduceOp
[distribute.multi_worker]
MultiWorkerMirroredStrategy as python.distribute.collective_all_reduce_strategy.CollectiveAllReduceStrategy
MultiWorkerMirroredStrategy as python.distribute.collective_all_reduce_strategy.CollectiveAllReduceStrategyV1
MultiWorkerExtended as python.distribute.collective_all_reduce_strategy.CollectiveAllReduceExtended
[distribute.replica]
python.distribute.distribute_lib.ReplicaContext
[distribute.strategy]
python.distribute.distribute_lib.: RunOptions Strategy StrategyV1 ValueContext
Extended as python.distribute.distribute_lib.StrategyExtendedV2
[distribute.values]
python.distribute.values.: DistributedValues Mirrored PerReplica PerReplicaSpec
"""

CONTRIB = """
[distribute.early]
contrib.distribute.: AllReduceCrossDeviceOps CollectiveAllReduceStrategy DistributeConfig MirroredStrategy
contrib.distribute.: get_cross_replica_context require_replica_context
[distribute.strategy]
Strategy as contrib.distribute.DistributionStrategy
[cluster.resolvers]
UnionResolver as contrib.cluster_resolver.UnionClusterResolver
"""
