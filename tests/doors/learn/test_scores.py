"""What `tf.contrib.learn` has of scikit-learn's: scores, splits; and the tables its tutorials read."""

import numpy as np
import pytest

from ebbflow.doors.learn import data_files, scores


def test_scores():
    assert scores.accuracy_score([1, 2, 3, 4], np.array([1, 2, 3, 5])) == 0.75
    assert scores.mean_squared_error(np.array([[1.0], [2.0]]), np.array([1.0, 4.0])) == 2.0


@pytest.mark.parametrize("said, count", [({}, 6), ({"test_size": 0.5}, 4), ({"train_size": 0.25}, 2)])
def test_rows_are_split_alike(said, count):
    x = np.arange(16).reshape(8, 2)
    first, rest, own, others = scores.train_test_split(x, x[:, 0], random_state=3, **said)
    assert len(first) == len(own) == count and len(rest) == len(others) == 8 - count
    assert (first[:, 0] == own).all() and (rest[:, 0] == others).all()
    assert sorted([*own, *others]) == x[:, 0].tolist()


def test_unknown_options():
    with pytest.raises(TypeError, match="shuffle"):
        scores.train_test_split([1], shuffle=True)


def test_houses(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    np.savez(tmp_path / "datasets" / "boston_housing.npz", x=np.ones((3, 13)), y=np.arange(3))
    found = data_files.load_dataset("boston")
    assert found.data.shape == (3, 13) and found.target.tolist() == [0, 1, 2]
    table = tmp_path / "houses.csv"
    table.write_text("2,2,a,b\n1,2,3\n4,5,6\n")
    found = data_files.load_boston(str(table))
    assert found.data.tolist() == [[1, 2], [4, 5]] and found.target.tolist() == [3, 6]


def test_houses_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))

    def gone(*_):
        raise OSError("no network")

    monkeypatch.setattr(data_files, "maybe_download", gone)
    with pytest.raises(FileNotFoundError, match=r"boston_housing.npz is not there.*no network.*data_path"):
        data_files.load_boston()


def test_unknown_tables():
    with pytest.raises(ValueError, match="there are boston, iris"):
        data_files.load_dataset("tulips")
