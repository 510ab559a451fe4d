"""Rings and spirals, and schedules of experiments, in processes of their own."""

from tests.doors.test_alias import python
from tests.machine import KERAS_2

pytestmark = KERAS_2


def test_points_are_where_they_belong():
    told = python(
        """
        import numpy as np
        import ebbflow.v1 as tf
        from ebbflow.doors.learn import synthetic

        make = tf.contrib.learn.datasets.make_dataset
        rings = make("circles", 60, n_classes=3, factor=0.5)
        radii = [set(np.hypot(*rings.data[rings.target == c].T).round(6)) for c in range(3)]
        print(radii == [{1.0}, {0.5}, {0.25}], rings.data.shape, rings.target.shape)
        for mode in synthetic.SPIRALS:
            arms = make("spirals", 50, mode=mode)
            print(arms.data.shape == (50, 2), np.abs(arms.data.sum(0)).max() < 1e-9)
        same = [make("spirals", 50, 0.1, seed).data for seed in (1, 1, 2)]
        print((same[0] == same[1]).all(), (same[0] == same[2]).all())
        for wrong in (lambda: make("rings"), lambda: make("spirals", mode="straight")):
            try:
                wrong()
            except ValueError as error:
                print("spirals" in str(error) or "fermat" in str(error))
        """
    )
    assert told == ["True", "(60,", "2)", "(60,)", *["True"] * 6, "True", "False", "True", "True"]


def test_a_runner_says_what_is_missing():
    told = python(
        """
        import json, os, tempfile
        import ebbflow.v1 as tf

        L, where = tf.contrib.learn, tempfile.mkdtemp()
        features = [tf.contrib.layers.real_valued_column("x")]

        class Own(L.Experiment):
            kind = "no method"

            def __init__(self, config):
                super().__init__(L.LinearRegressor(features, config=config), None, None)

            def train_and_evaluate(self):
                return "both"

            def train(self):
                return "train"

            def run_std_server(self):
                return "serve"

        def by_config(config, hparams):
            return Own(config)

        def refused(*args, **kwargs):
            try:
                L.learn_runner.run(*args, **kwargs)
            except (ValueError, TypeError, RuntimeError) as error:
                return type(error).__name__ + ":" + str(error)

        config = L.RunConfig(model_dir=where)
        print(L.learn_runner.run(by_config, run_config=config))
        assert "Cannot provide both" in refused(by_config, where, run_config=config)
        assert "Must set value for" in refused(by_config)
        assert "Must specify an output directory" in refused(by_config, "")
        assert "Must set `hparams` as None" in refused(lambda d: Own(config), where, hparams=1)
        assert "`run_config` must be" in refused(by_config, run_config="x")
        assert "`model_dir` in `run_config`" in refused(by_config, run_config=L.RunConfig())
        assert "`hparams` must be" in refused(by_config, run_config=config, hparams=["h"])
        assert refused(by_config, run_config=config, schedule="mirage").startswith("ValueError:Schedule refer")
        assert refused(by_config, run_config=config, schedule="kind").startswith("TypeError:Schedule refer")
        other = L.RunConfig(model_dir=where + "/other")
        assert refused(lambda c, h: Own(other), run_config=config).startswith("RuntimeError:`RunConfig` instance is")
        cluster = {"ps": ["localhost:1"], "worker": ["localhost:2"], "master": ["localhost:3"]}
        for kind in cluster:
            os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": kind, "index": 0}})
            print(L.learn_runner.run(by_config, run_config=L.RunConfig(model_dir=where)))
        """
    )
    assert told == ["both", "serve", "train", "both"]
