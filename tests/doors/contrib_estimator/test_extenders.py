"""`tf.contrib.estimator` on the real `tensorflow_estimator`, in processes of their own."""

from tests.doors.test_alias import python
from tests.machine import KERAS_2

CLIPPED = """
    import numpy as np
    import ebbflow.v1 as tf

    first, second = tf.Variable([0.0, 0.0]), tf.Variable([0.0])
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 1.0)
    step = optimizer.minimize(tf.reduce_sum(first * [3.0, 0.0]) + second[0] * 4.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        print(np.allclose(session.run(first), [-0.6, 0.0]), np.allclose(session.run(second), [-0.8]))
"""

HEADS = """
    import numpy as np
    import ebbflow.v1 as tf

    extended = tf.contrib.estimator
    logits = tf.constant([[2.0, -1.0, 0.5], [0.0, 1.0, -1.0]])
    for head, labels in (
        (extended.multi_class_head(3), [[0], [2]]),
        (extended.multi_label_head(3), [[1, 0, 1], [0, 1, 0]]),
        (extended.regression_head(label_dimension=3), [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        (extended.poisson_regression_head(label_dimension=3), [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    ):
        spec = head.create_estimator_spec({}, "eval", logits, tf.constant(labels))
        with tf.Session() as session:
            print(round(float(session.run(spec.loss)), 5))
"""

FORWARDED = """
    import numpy as np
    import ebbflow.v1 as tf

    x = np.linspace(0, 1, 20).astype(np.float32)
    rows = tf.estimator.inputs.numpy_input_fn({"x": x, "id": np.arange(20)}, 2 * x, 5, 40, shuffle=False)
    once = tf.estimator.inputs.numpy_input_fn({"x": x, "id": np.arange(20)}, None, 5, 1, shuffle=False)
    column = tf.feature_column.numeric_column("x")
    model = tf.contrib.estimator.forward_features(tf.estimator.LinearRegressor([column]), "id")
    model.train(rows)
    told = list(model.predict(once))
    print([int(row["id"]) for row in told] == list(range(20)), sorted(told[0]) == ["id", "predictions"])
    try:
        list(tf.contrib.estimator.forward_features(tf.estimator.LinearRegressor([column], model.model_dir), "y")
             .predict(once))
    except ValueError as error:
        print('Key "y" is not in features dict' in str(error))
    batch = lambda: ({"x": tf.constant(x[:, None])}, tf.constant((x > 0.5).astype(np.float32)[:, None]))
    bars = tf.feature_column.bucketized_column(column, [0.25, 0.5, 0.75])
    trees = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(batch, [bars], n_trees=3, max_depth=2)
    print([int(row["class_ids"][0]) for row in trees.predict(once)] == (x > 0.5).astype(int).tolist())
"""


@KERAS_2
def test_gradients_are_clipped_by_their_common_norm():
    assert python(CLIPPED) == ["True", "True"]


@KERAS_2
def test_heads_have_tensorflows_losses():  # the numbers are TensorFlow 1.15's
    assert [float(line) for line in python(HEADS)] == [1.32446, 0.37232, 0.54167, 1.6653]


@KERAS_2
def test_features_are_forwarded_and_trees_trained_in_memory():
    assert python(FORWARDED) == ["True"] * 4
