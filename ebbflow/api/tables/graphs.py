"""The names of graphs, sessions, scopes, collections; gradients in both worlds."""

BOTH = """
[eager.custom_gradient]
custom_gradient
grad_pass_through
no_gradient NoGradient NotDifferentiable
recompute_grad
RegisterGradient
[eager.py_function]
py_function
[eager.tape]
GradientTape
UnconnectedGradients
[functions.dataflow_v1.graph_import]
import_graph_def graph_util.import_graph_def
[graph.collections]
add_to_collection
add_to_collections
get_collection
get_collection_ref
GraphKeys
[graph.gradients]
AggregationMethod
[graph.graph]
get_default_graph
Graph
reset_default_graph
[graph.placeholders]
placeholder
placeholder_with_default
[ops.checks.printing]
string_format as strings.format
[graph.scopes]
colocate_with
container
control_dependencies
group
init_scope
is_symbolic_tensor
no_op
[graph.symbolic]
Operation
[runtime.handles]
delete_session_tensor
get_session_handle
get_session_tensor
[runtime.session]
get_default_session
InteractiveSession
Session
"""

V1 = """
[functions.convert_to_constants]
graph_util.convert_variables_to_constants
[graph.graph_util]
graph_util.: extract_sub_graph must_run_on_cpu remove_training_nodes tensor_shape_from_node_def_name
[graph.gradients]
gradients
hessians
[graph.scopes]
name_scope_v1 as name_scope
op_scope
tuple
[tf1.graph_transforms.transform]
transform_graph as tools.graph_transforms.TransformGraph
"""

V2 = """
[eager.forward]
autodiff.ForwardAccumulator
[eager.tape]
autodiff.GradientTape
[graph.graph_def]
PRODUCER as GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION
[graph.scopes]
name_scope
"""
