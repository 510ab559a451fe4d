"""`tf.contrib.timeseries`: an Estimator that goes on with series, and what it is fed with."""

import numpy as np
import pytest

from ebbflow.core import errors
from ebbflow.tf1.series_input import CSVReader, NumpyReader, RandomWindowInputFn, predict_continuation_input_fn
from tests.doors.test_alias import python
from tests.machine import KERAS_2

REGRESSION = """
    import os, tempfile
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    ts = tf.contrib.timeseries
    x = np.arange(300)
    y = np.sin(np.pi * x / 20) + x / 100
    path = os.path.join(tempfile.mkdtemp(), "series.csv")
    np.savetxt(path, np.stack([x, y], 1), delimiter=",", fmt=["%d", "%.5f"])
    told = []
    for reader, loss in (
        (ts.NumpyReader({ts.TrainEvalFeatures.TIMES: x, ts.TrainEvalFeatures.VALUES: y}), ts.ARModel.SQUARED_LOSS),
        (ts.CSVReader(path), ts.ARModel.NORMAL_LIKELIHOOD_LOSS),
    ):
        model = ts.ARRegressor(40, 8, 4, num_features=1, loss=loss, config=tf.estimator.RunConfig(tf_random_seed=3))
        model.train(ts.RandomWindowInputFn(reader, window_size=12, batch_size=16, shuffle_seed=1), steps=200)
        found = model.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
        (future,) = model.predict(ts.predict_continuation_input_fn(found, steps=30))
        print(np.abs(found["mean"] - found["observed"]).mean() < 0.2, found["mean"].shape, found["times"][0, 0])
        print([part.shape for part in found["start_tuple"]] == [(1, 8), (1, 8, 1), (1, 8, 0)])
        print(future["mean"].shape, future["times"][0], (future["covariance"] > 0).all())
        told.append((model, found, future))
    model, found, future = told[0]
    value = model.get_variable_value  # the first steps of the future, worked out by hand
    mean, variance = value("input_statistics/overall_feature_mean"), value("input_statistics/overall_feature_var")
    times = np.arange(292, 304)
    into = np.maximum((times % 40)[:, None] * 10 / 40 - np.arange(10), 0)
    into = np.where(into < 1, into, 0)
    before = np.concatenate([into[:8], ((y[-8:] - mean) / np.sqrt(variance))[:, None]], 1)
    features = np.concatenate([before.ravel(), into[8:].ravel()])
    layer = "model/flat_prediction_model/predicted_mean/"
    hand = (features @ value(layer + "kernel") + value(layer + "bias")) * np.sqrt(variance) + mean
    print(np.allclose(hand, future["mean"][:4, 0], atol=1e-4))
"""
BESIDE = """
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    ts = tf.contrib.timeseries
    x = np.arange(200)
    on = (x % 7 < 2).astype(np.float32)
    reader = ts.NumpyReader({"times": x, "values": on * 2.0 + 1, "on": on})
    column = tf.feature_column.numeric_column("on")
    model = ts.ARRegressor(7, 0, 5, 1, exogenous_feature_columns=[column], loss=ts.ARModel.SQUARED_LOSS,
                           hidden_layer_sizes=[8], config=tf.estimator.RunConfig(tf_random_seed=2))
    model.train(ts.RandomWindowInputFn(reader, window_size=5, batch_size=16, shuffle_seed=1), steps=300)
    found = model.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
    next_on = (np.arange(200, 210) % 7 < 2).astype(np.float32)
    more = {"on": next_on[None, :, None]}
    (future,) = model.predict(ts.predict_continuation_input_fn(found, steps=10, exogenous_features=more))
    print(np.abs(future["mean"][:, 0] - (next_on * 2 + 1)).max() < 0.3)
    try:
        model.train(ts.RandomWindowInputFn(reader, window_size=6, batch_size=4), steps=1)
    except ValueError as error:
        print("window_size=5" in str(error))
"""


@KERAS_2
def test_regression():
    row = ["True", "(1,", "292,", "1)", "8", "True", "(30,", "1)", "300", "True"]
    assert python(REGRESSION) == [*row, *row, "True"]


@KERAS_2
def test_features_beside_the_series():
    assert python(BESIDE) == ["True", "True"]


def test_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,a,b\n1,2.5,3\n\n2,4,5\n")
    read = CSVReader(str(path), ("times", "values", "values"), skip_header_lines=1).arrays()
    np.testing.assert_array_equal(read["times"], [1, 2])
    np.testing.assert_array_equal(read["values"], [[2.5, 3], [4, 5]])
    assert read["values"].dtype == np.float32
    with pytest.raises(ValueError, match=r"a\.csv:1: 't' is not a valid int64"):
        CSVReader(str(path), ("times", "values", "values")).arrays()
    with pytest.raises(ValueError, match="Expect 2 fields but have 3"):
        CSVReader(str(path), skip_header_lines=1).arrays()
    with pytest.raises(errors.NotFoundError, match="nowhere"):
        CSVReader(str(tmp_path / "nowhere.csv")).arrays()
    with pytest.raises(ValueError, match="'values' is a required column"):
        CSVReader(str(path), ("times", "a"))


def test_windows_never_go_back_in_time():
    reader = NumpyReader({"times": [5, 6, 7, 1, 2, 3], "values": np.arange(6.0)})
    features, labels = RandomWindowInputFn(reader, window_size=3, batch_size=50, shuffle_seed=1)()
    assert labels is None
    assert {tuple(row) for row in features["times"].numpy().tolist()} == {(5, 6, 7), (1, 2, 3)}
    with pytest.raises(ValueError, match="windows of size 9, but only 6 records"):
        RandomWindowInputFn(reader, window_size=9, batch_size=1)()
    with pytest.raises(ValueError, match="no window of 5"):
        RandomWindowInputFn(reader, window_size=5, batch_size=1)()


def test_what_cannot_be_a_series_is_refused():
    with pytest.raises(ValueError, match="required features"):
        NumpyReader({"times": [1]})
    with pytest.raises(ValueError, match=r"shape \(2,\) for feature 'values'"):
        NumpyReader({"times": [1], "values": [1.0, 2.0]})
    ended = {"times": np.array([[1, 2]]), "start_tuple": ()}
    with pytest.raises(ValueError, match="one of them must be"):
        predict_continuation_input_fn(ended)
    with pytest.raises(ValueError, match=r"end at \[2\]"):
        predict_continuation_input_fn(ended, times=[2, 3])
