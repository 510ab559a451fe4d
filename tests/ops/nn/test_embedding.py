"""Looking rows of tables up: tables that live elsewhere."""

import ebbflow as tf


def test_a_variable_made_eagerly_is_looked_up_in_a_function():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
        return loss, tf.convert_to_tensor(tape.gradient(loss, table))

    loss, slope = step(tf.constant([2, 0]))
    assert float(loss) == 66.0
    assert slope.numpy().tolist() == [[2.0, 4.0], [0.0, 0.0], [10.0, 12.0]]
