"""Gradients of graphs: what their nodes say of themselves."""

import ebbflow as ebb

tf = ebb.compat.v1


def test_a_gradients_nodes_know_the_node_they_are_of():
    with tf.Graph().as_default():
        a, b = tf.constant([[1.0]], name="a"), tf.constant([[2.0]], name="b")
        product = tf.matmul(a, b, name="product")
        (grad,) = tf.gradients(tf.square(product, name="last"), a)
        assert grad.op._original_op is product.op and product.op._original_op is None
        assert grad.graph.get_operation_by_name("gradients/last_grad/Mul")._original_op.name == "last"
