"""The names of flags, logging, files, devices, versions, tests: a program's surroundings."""

BOTH = """
[api.adapters]
get_static_value
is_tensor
make_ndarray
newaxis
[api.libraries]
load_file_system_library
load_library
load_op_library
[api.versions]
COMPILER_VERSION __compiler_version__ version.COMPILER_VERSION
GRAPH_DEF_VERSION_MIN_CONSUMER version.GRAPH_DEF_VERSION_MIN_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER version.GRAPH_DEF_VERSION_MIN_PRODUCER
version.EBBFLOW version.__version__
[engines.devices]
config.get_logical_device_configuration config.experimental.get_virtual_device_configuration
config.get_visible_devices config.experimental.get_visible_devices
config.list_logical_devices config.experimental.list_logical_devices
config.list_physical_devices config.experimental.list_physical_devices
config.LogicalDeviceConfiguration config.experimental.VirtualDeviceConfiguration
config.set_logical_device_configuration config.experimental.set_virtual_device_configuration
config.set_visible_devices config.experimental.set_visible_devices
config.: LogicalDevice PhysicalDevice experimental_list_devices
config.experimental.: get_device_details get_memory_growth get_memory_info get_memory_usage reset_memory_stats
config.experimental.set_memory_growth
test.: gpu_device_name is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_gpu_available
[platform.app]
app.run
app.UsageError
[platform.config]
config.functions_run_eagerly config.experimental_functions_run_eagerly
get_optimizer_experimental_options as config.optimizer.get_experimental_options
set_optimizer_experimental_options as config.optimizer.set_experimental_options
config.run_functions_eagerly config.experimental_run_functions_eagerly
config.: get_soft_device_placement set_soft_device_placement
config.experimental.: enable_tensor_float_32_execution get_device_policy get_synchronous_execution set_device_policy
config.experimental.: set_synchronous_execution tensor_float_32_execution_enabled
config.optimizer.get_jit
config.optimizer.set_jit
config.threading.: get_inter_op_parallelism_threads get_intra_op_parallelism_threads set_inter_op_parallelism_threads
config.threading.: set_intra_op_parallelism_threads
debugging.get_log_device_placement
debugging.set_log_device_placement
test.is_built_with_xla
config.experimental.: disable_mlir_bridge enable_mlir_bridge
experimental.: async_clear_error async_scope function_executor_type
[eager.check_numerics]
debugging.: disable_check_numerics enable_check_numerics
[platform.tracebacks]
debugging.: disable_traceback_filtering enable_traceback_filtering is_traceback_filtering_enabled
[platform.eras]
control_flow_v2_enabled
disable_control_flow_v2
disable_eager_execution
disable_resource_variables
disable_tensor_equality
disable_v2_behavior
disable_v2_tensorshape
enable_control_flow_v2
enable_eager_execution
enable_resource_variables
enable_tensor_equality
enable_v2_behavior
enable_v2_tensorshape
executing_eagerly_outside_functions
resource_variables_enabled
[platform.files]
gfile.GFile gfile.FastGFile gfile.Open io.gfile.GFile
io.gfile.: copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename rmtree stat walk
[platform.first_files]
gfile.: Copy DeleteRecursively Exists Glob IsDirectory ListDirectory MakeDirs MkDir Remove Rename Stat Walk
[platform.flags]
flags.: CantOpenFlagFileError DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum DEFINE_enum_class DEFINE_flag
flags.: DEFINE_float DEFINE_integer DEFINE_list DEFINE_multi_enum DEFINE_multi_float DEFINE_multi_integer
flags.: DEFINE_multi_string DEFINE_spaceseplist DEFINE_string DuplicateFlagError Error FLAGS Flag FlagHolder
flags.: FlagValues IllegalFlagValueError UnparsedFlagAccessError UnrecognizedFlagError ValidationError
flags.: adopt_module_key_flags declare_key_flag mark_flag_as_required mark_flags_as_mutual_exclusive
flags.: mark_flags_as_required register_multi_flags_validator register_validator set_default validator
[platform.logging]
get_logger logging.get_logger
logging.: DEBUG ERROR FATAL INFO TaskLevelStatusMessage WARN debug error exception fatal flush get_verbosity info log
logging.: log_every_n log_first_n log_if set_verbosity vlog warn warning
[platform.progress]
progress
[platform.resources]
resource_loader.: get_data_files_path get_path_to_datafile get_root_dir_with_all_resources load_resource
resource_loader.: readahead_file_path
[platform.sysconfig]
CXX11_ABI_FLAG __cxx11_abi_flag__ sysconfig.CXX11_ABI_FLAG
CXX_VERSION sysconfig.CXX_VERSION
MONOLITHIC_BUILD __monolithic_build__ sysconfig.MONOLITHIC_BUILD
sysconfig.: get_build_info get_compile_flags get_include get_lib get_link_flags
[platform.text]
compat.: as_bytes as_str as_str_any as_text bytes_or_text_types complex_types forward_compatibility_horizon
compat.: forward_compatible integral_types path_to_bytes path_to_str real_types
[testing.benchmark]
test.Benchmark
test.benchmark_config
[testing.gradient_check]
test.compute_gradient_error
[testing.modes]
test.: disable_with_predicate with_eager_op_as_function
[cluster.local_cluster]
test.create_local_cluster
[testing.test_case]
test.: TestCase get_temp_dir main mock test_src_dir_path
"""

V1 = """
[tf1.model_profile]
profiler.: ProfileOptionBuilder Profiler profile
[api.adapters]
device
[api.versions]
GIT_V1 as GIT_VERSION __git_version__ version.GIT_VERSION
V1 as VERSION __version__ version.VERSION
GRAPH_DEF_VERSION_V1 as GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION
[testing.gradient_check]
compute_gradient_v1 as test.compute_gradient
[testing.stubs]
test.StubOutForTesting
[testing.modes]
assert_equal_graph_def_v1 as test.assert_equal_graph_def
"""

V2 = """
[api.adapters]
convert_to_tensor_v2 as convert_to_tensor
device_v2 as device
gradients_v2 as gradients
hessians_v2 as hessians
tuple_v2 as tuple
[api.versions]
GIT_V2 as GIT_VERSION __git_version__ version.GIT_VERSION
V2 as VERSION __version__ version.VERSION
[platform.config]
config.experimental.enable_op_determinism
[testing.gradient_check]
test.compute_gradient
[testing.modes]
assert_equal_graph_def_v2 as test.assert_equal_graph_def
"""

INSIDE = """
[tf1.debug_sessions]
python.debug.: DumpingDebugHook DumpingDebugWrapperSession LocalCLIDebugHook LocalCLIDebugWrapperSession
python.debug.: TensorBoardDebugHook TensorBoardDebugWrapperSession has_inf_or_nan
python.debug.lib.debug_data.has_inf_or_nan
python.debug.wrappers.hooks.: DumpingDebugHook LocalCLIDebugHook TensorBoardDebugHook
python.debug.wrappers.local_cli_wrapper.LocalCLIDebugWrapperSession
python.debug.wrappers.dumping_wrapper.DumpingDebugWrapperSession
[platform.flags]
ReadOnFirstUse as python.platform.flags._FlagValuesWrapper
[platform.text]
FAR as python.compat.compat._FORWARD_COMPATIBILITY_HORIZON
[platform.deprecation]
DeprecatedNamesAlreadySetError as python.util.deprecation.DeprecatedNamesAlreadySet
"""
