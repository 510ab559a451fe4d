"""`tf.contrib.tpu.TPUEstimator` of the real `tensorflow_estimator`, without a TPU, in a program run as TF 1."""

import subprocess
import sys
import textwrap

from tests.machine import KERAS_2

pytestmark = KERAS_2

PROGRAM = """
    import tempfile
    import numpy as np
    import tensorflow as tf
    from tensorflow.contrib.tpu.python.tpu import tpu_config, tpu_estimator

    from tensorflow.python.tpu import tpu_config as inner_config

    tpu = tf.contrib.tpu
    assert inner_config.TPUConfig is tpu.TPUConfig

    def model(features, labels, mode, params):
        p = tf.matmul(features, tf.get_variable("w", [3, 1]))
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode=mode, predictions={"p": p})
        loss = tf.losses.mean_squared_error(labels, p)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        if params["use_tpu"]:
            optimizer = tpu.CrossShardOptimizer(optimizer)
        step = optimizer.minimize(loss, tf.train.get_global_step())
        told = (lambda labels, p: {"mae": tf.metrics.mean_absolute_error(labels, p)}, [labels, p])
        return tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=step, eval_metrics=told)

    def rows(params):
        x = np.random.RandomState(0).randn(64, 3).astype("f")
        data = tf.data.Dataset.from_tensor_slices((x, x @ np.array([[1.0], [2.0], [3.0]], "f")))
        return data.repeat().batch(params["batch_size"], drop_remainder=True)

    how = tpu.TPUConfig(iterations_per_loop=5, per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2)
    config = tpu.RunConfig(model_dir=tempfile.mkdtemp(), tpu_config=how)
    assert isinstance(config, tpu_config.RunConfig)
    for use_tpu in (False, True):
        Estimator = tf.estimator.tpu.TPUEstimator if use_tpu else tpu.TPUEstimator
        config = config.replace(model_dir=tempfile.mkdtemp())
        estimator = Estimator(
            model, config=config, use_tpu=use_tpu, train_batch_size=8, eval_batch_size=8, predict_batch_size=8)
        assert isinstance(estimator, tpu_estimator.TPUEstimator)
        estimator.train(rows, max_steps=50)
        told = estimator.evaluate(rows, steps=4)
        print(told["global_step"], told["mae"] < 1e-3, len(list(zip(estimator.predict(rows), range(16)))))
    try:
        tpu.TPUEstimator(model, config=config, use_tpu=True)
    except ValueError as error:
        print(error)
"""


def test_it_trains_evaluates_and_predicts_on_the_devices_there_are(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, "-m", "ebbflow", "run", "--tf", "1", str(script)]
    child = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    wanted = ["50 True 16", "50 True 16", "`train_batch_size` cannot be `None`"]
    assert child.stdout.splitlines()[-3:] == wanted, child.stderr[-3000:]
