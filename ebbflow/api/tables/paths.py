"""Dotted paths of TensorFlow's inside that programs import: second ways to the same objects.

`inner_paths.txt` has what was recorded from TensorFlow 1.15 and 2: all inner modules, and which public object stands
where. Here is what identity cannot tell (constants, names of older releases). Names are public names of TF 1
(`here=public.name` where they differ, `@2` for TF 2's meaning); `inside` has the names that were never public."""

MIRRORS = {"app.flags": "flags"}
"""Whole namespaces that stand at two public paths."""

INNER_MIRRORS = {
    "python.framework.dtypes": "dtypes",
    "python.framework.errors": "errors",
    "python.framework.errors_impl": "errors",
    "python.ops.nn": "nn",
    "python.ops.signal.signal": "signal",
    "python.ops.image_ops": "image",
    "python.ops.image_ops_impl": "image",
    "python.ops.metrics": "metrics",
    "python.ops.metrics_impl": "metrics",
    "python.ops.rnn_cell": "nn.rnn_cell",
    "python.ops.rnn_cell_impl": "nn.rnn_cell",
    "python.ops.bitwise_ops": "bitwise",
    "python.summary.summary": "summary",
    "python.training.training": "train",
    "python.platform.flags": "flags",
    "python.platform.app": "app",
    "python.platform.tf_logging": "logging",
    "python.platform.gfile": "gfile",
    "python.platform.resource_loader": "resource_loader",
    "python.platform.sysconfig": "sysconfig",
    "python.util.compat": "compat",
    "python.util.nest": "nest",
    "python.platform.test": "test",
    "python.platform.googletest": "test",
    "python.layers.layers": "layers",
}
"""Inner paths that show the whole of a public namespace, where nothing else was recorded."""

UNIONS = {
    "python.ops.standard_ops": """
        array_ops check_ops clip_ops special_math_ops cond control_flow_ops critical_section_ops data_flow_ops
        functional_ops gradients histogram_ops init_ops linalg_ops logging_ops manip_ops math_ops numerics
        partitioned_variables random_ops script_ops session_ops sort_ops sparse_ops state_ops stateless_random_ops
        string_ops template tensor_array_ops while_loop variable_scope variables parallel_for.control_flow_ops
    """,
}
"""Inner paths that show what their neighbours do; where two have a name, the first one's."""

PYTHON = {
    "python.ops.ragged.ragged_math_ops": """
        ragged_cumsum=cumsum
        segment_max=math.unsorted_segment_max segment_mean=math.unsorted_segment_mean
        segment_min=math.unsorted_segment_min segment_prod=math.unsorted_segment_prod
        segment_sqrt_n=math.unsorted_segment_sqrt_n segment_sum=math.unsorted_segment_sum
    """,
    "python.ops.ragged.ragged_array_ops": """
        bitcast expand_dims=expand_dims@2 ones ragged_one_hot=one_hot rank reverse size split tile zeros
    """,
    "python.ops.ragged.ragged_batch_gather_ops": "batch_gather",
    "python.ops.ragged.ragged_string_ops": "reduce_join=strings.reduce_join@2",
    "python.ops.ragged.ragged_where_op": "where where_v2=where@2",
    "python.framework.ops": "colocate_with",
    "python.ops.distributions.special_math": "erfinv=math.erfinv ndtri=math.ndtri",
    "python.ops.numpy_ops.np_dtypes": """
        bool_=experimental.numpy.bool_ complex128=experimental.numpy.complex128
        complex64=experimental.numpy.complex64 complex_=experimental.numpy.complex_
        float16=experimental.numpy.float16 float32=experimental.numpy.float32 float64=experimental.numpy.float64
        float_=experimental.numpy.float_ iinfo=experimental.numpy.iinfo inexact=experimental.numpy.inexact
        int16=experimental.numpy.int16 int32=experimental.numpy.int32 int64=experimental.numpy.int64
        int8=experimental.numpy.int8 int_=experimental.numpy.int_ issubdtype=experimental.numpy.issubdtype
        object_=experimental.numpy.object_ string_=experimental.numpy.string_ uint16=experimental.numpy.uint16
        uint32=experimental.numpy.uint32 uint64=experimental.numpy.uint64 uint8=experimental.numpy.uint8
        unicode_=experimental.numpy.unicode_
    """,
    "python.compiler.xla.xla": "compile=xla.experimental.compile",
    "python.compiler.xla.jit": "experimental_jit_scope=xla.experimental.jit_scope",
    "python.framework.versions": """
        __compiler_version__=version.COMPILER_VERSION __git_version__=version.GIT_VERSION
        COMPILER_VERSION=version.COMPILER_VERSION GIT_VERSION=version.GIT_VERSION VERSION=version.VERSION
        __version__=version.VERSION GRAPH_DEF_VERSION=version.GRAPH_DEF_VERSION
        GRAPH_DEF_VERSION_MIN_CONSUMER=version.GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER=version.GRAPH_DEF_VERSION_MIN_PRODUCER
    """,
    "python.framework.tensor_conversion": """
        convert_to_tensor_v1=convert_to_tensor convert_to_tensor_v2=convert_to_tensor@2
    """,
    "python.eager.context": "device",
    "python.ops.array_ops": "ensure_shape",
    "python.ops.constant_op": "constant",
    "python.ops.cond_v2": "cond_v2=cond@2 indexed_case=switch_case",
    "python.ops.functional_ops": "map_fn map_fn_v2=map_fn",
    "python.ops.parallel_for": "vectorized_map",
    "python.ops.data_flow_ops": "delete_session_tensor get_session_handle get_session_tensor",
    "python.ops.linalg_ops": "einsum",
    "python.ops.logging_ops": "Assert",
    "python.ops.math_ops": """
        reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum
    """,
    "python.ops.sparse_ops": "bincount=math.bincount@2 sparse_placeholder",
    "python.ops.state_ops": "Variable is_variable_initialized",
    "python.ops.variable_scope": "AUTO_REUSE",
}
"""Inner names beside those that were recorded. The sums of `math_ops` are v1's, which take the words of both eras: what
programs of early TF 1 import, before they became TF 2's."""
