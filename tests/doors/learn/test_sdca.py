"""`tf.contrib.linear_optimizer`, in a process of its own; the expected numbers are TensorFlow 1.15's."""

from tests.doors.test_alias import python
from tests.machine import KERAS_2

SOLVED = """
import numpy as np, ebbflow.v1 as tf
linear, layers, learn = tf.contrib.linear_optimizer, tf.contrib.layers, tf.contrib.learn
def rows(count):
    return {"id": tf.constant([str(i) for i in range(4)]), "n": tf.constant([[0.6], [-0.8], [1.0], [0.3]]),
            "w": tf.constant([[1.0], [2.0], [1.0], [0.5]]),
            "s": tf.SparseTensor([[0, 0], [1, 0], [3, 0], [3, 1]], ["a", "b", "a", "b"], [4, 2])}
columns = [layers.real_valued_column("n"), layers.sparse_column_with_keys("s", ["a", "b"])]
classes = lambda: (rows(4), tf.constant([[1], [0], [1], [0]]))
numbers = lambda: (rows(4), tf.constant([[1.0], [0.5], [2.0], [0.0]]))
solver = linear.SDCAOptimizer("id", symmetric_l2_regularization=0.5, adaptive=False)
classifier = learn.LinearClassifier(columns, weight_column_name="w", optimizer=solver)
regressor = learn.LinearRegressor(columns, optimizer=solver)
for model, feed in ((classifier, classes), (regressor, numbers)):
    model.fit(input_fn=feed, steps=60)
    print("%.3f" % model.evaluate(input_fn=feed, steps=1)["loss"])
print(*np.round(list(regressor.predict_scores(input_fn=numbers)), 2))
try:
    learn.LinearClassifier(columns, optimizer=solver, enable_centered_bias=True)
except ValueError:
    print("refused")
with tf.Graph().as_default(), tf.Session() as session:
    weights = tf.Variable(tf.zeros([2]))
    examples = dict(sparse_features=[linear.SparseFeatureColumn([0, 1], [0, 1], [1.0, 2.0])], dense_features=[],
                    example_weights=[1.0, 3.0], example_labels=[0.0, 1.0], example_ids=["x", "y"])
    variables = dict(sparse_features_weights=[weights], dense_features_weights=[])
    options = dict(loss_type="logistic_loss", symmetric_l1_regularization=0.1, symmetric_l2_regularization=0.0)
    model = linear.SdcaModel(examples, variables, options)
    told = [model.regularized_loss(examples), model.unregularized_loss(examples), model.approximate_duality_gap()]
    session.run(tf.global_variables_initializer())
    step = model.minimize()
    for _ in range(40):
        session.run(step)
    session.run(model.update_weights(step))
    print(*np.round(session.run(weights), 3), *np.round(session.run(told), 3))
"""


@KERAS_2
def test_solved():
    assert python(SOLVED) == [
        "0.349",
        "0.226",
        "0.8",
        "0.2",
        "1.26",
        "0.47",
        "refused",
        "-0.321",
        "0.841",
        "0.293",
        "0.264",
        "-0.0",
    ]
