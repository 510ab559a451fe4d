"""What stands inside `gradients/` is what TensorFlow 1.15 puts there: the same nodes, of the same types, wired so.

The programs are in tests/golden/programs/gradients.py. Control edges inside `…_grad/` are left out: TensorFlow has
some that tell its scheduler when to begin.
"""

import numpy as np
import pytest

import ebbflow as tf
from tests.golden.programs import replay

# Programs that Ebbflow builds otherwise.
LATER = {
    "gradient_of_power_fixed": "TensorFlow leaves a BroadcastGradientArgs that nobody uses",
    "gradient_of_atan2": "1.15 does not sum over broadcast axes (and fails where it should)",
    "gradient_of_einsum": "tf.einsum of 1.15 reshapes before it multiplies; ours multiplies matrices as they are",
    "gradient_of_matrix_inverse": "BatchMatMulV2 serves matrices of every rank",
    "gradient_of_cholesky": "two triangular solves, without the explicit inverse",
    "gradient_of_matrix_diag": "MatrixDiagPartV3 stands in for MatrixDiagPart",
    "gradient_of_trace": "MatrixDiagV3 stands in for MatrixDiag",
    "gradient_of_reduce_prod": "products beside each element are taken axis by axis, without transposing",
    "gradient_of_cumprod": "DivNoNan, as in 2.21: the gradient beside a zero is not NaN",
    "gradient_of_unsorted_segment_sum": "a mask is broadcast, not multiplied out",
    "gradient_of_gather_axis": "one form serves batch dimensions too",
    "gradient_of_boolean_mask": "the same",
    "gradient_of_dynamic_partition": "ParallelDynamicStitch, as in 2.21",
    "gradient_of_top_k": "one form serves tensors of every rank",
    "gradient_of_sparse_softmax_cross_entropy": "differentiable twice, as in 2.21: there is no PreventGradient",
    "gradient_of_extract_image_patches": "patches are added up without a sparse matrix",
}
CASES = [case for case in replay.cases("gradients") if case[1] not in LATER]
NAME, TYPE, INPUTS, CONTROLS, DEVICE, OUTPUTS = range(6)


def nodes(described):
    """Type, inputs, and (outside of rules, or at the gates between them) control inputs, by name."""
    found = {}
    for line in described["nodes"]:
        words = line.split(" ")
        inside = "_grad/" in words[NAME] and "/tuple/" not in words[NAME]
        found[words[NAME]] = (words[TYPE], words[INPUTS], "" if inside else words[CONTROLS], words[DEVICE])
    return found


@pytest.mark.parametrize("judge, name", CASES)
def test_nodes_and_wiring(judge, name):
    expected, given = replay.outcome("gradients", judge, name)
    assert nodes(given) == nodes(expected)


@pytest.mark.parametrize("judge, name", CASES)
def test_facts(judge, name):
    expected, given = replay.outcome("gradients", judge, name)
    assert given["facts"] == expected["facts"]


@pytest.mark.parametrize("name", sorted(LATER))
def test_what_is_excused_still_differs(name):
    expected, given = replay.outcome("gradients", "1.15", name)
    assert nodes(given) != nodes(expected)


def test_a_gradient_that_leads_nowhere_is_there_but_does_not_run():
    """The gate of `MatMul_grad` waits, by its edges, for the gradient of the placeholder, which no variable needs."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3])
        w = v1.get_variable("w", [3, 2], initializer=v1.ones_initializer(), use_resource=True)
        train = v1.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.matmul(x, w)))
        gate = graph.get_operation_by_name("gradients/MatMul_grad/tuple/group_deps")
        unused, used = "gradients/MatMul_grad/MatMul", "gradients/MatMul_grad/MatMul_1"
        assert [n.name for n in gate.control_inputs] == [unused, used]
        session.run(v1.global_variables_initializer())
        seen = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(train, {x: np.ones((4, 3))}, options=options, run_metadata=seen)
        ran = {node.node_name for device in seen.step_stats.dev_stats for node in device.node_stats}
        assert used in ran and unused not in ran
        assert session.run(w).tolist() == [[-1.0, -1.0]] * 3
