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


def test_given_gradients_may_be_numbers():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        (grad,) = tf.gradients(x * x, x, grad_ys=[[[1.0, 0.0], [2.0, 1.0]]])
        assert session.run(grad).tolist() == [[2.0, 0.0], [12.0, 8.0]]
