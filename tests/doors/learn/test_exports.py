"""Exports of `tf.contrib.learn` and predictors of Estimators, in processes of their own."""

from tests.doors.test_alias import python
from tests.machine import KERAS_2

pytestmark = KERAS_2

BEGIN = """
    import os, tempfile
    import ebbflow.v1 as tf
    from ebbflow.doors.learn import exports

    tf.logging.set_verbosity(tf.logging.ERROR)
    ops = exports.ModelFnOps

    def refused(function, *args):
        try:
            function(*args)
        except (ValueError, TypeError) as error:
            return str(error)
"""


def test_signatures_fit_what_a_model_answers():
    told = python(
        BEGIN
        + """
    s, f, i = tf.string, tf.float32, tf.int64
    for outputs, problem in (
        ({"o": f}, 2), ({"o": s}, 1), ({"classes": s, "probabilities": f, "logits": f}, 1),
        ({"classes": i, "scores": f}, 1), ({"classes": i, "logits": f}, 1), ({"o": s}, 0),
    ):
        given = {name: tf.placeholder(dtype, [1]) for name, dtype in outputs.items()}
        made = exports.build_standardized_signature_def({"in": tf.placeholder(s, [1])}, given, problem)
        print(made.method_name.rpartition("/")[2] + ":" + ",".join(sorted(made.outputs)))
    """
    )
    assert told == [
        "regress:outputs", "classify:classes", "classify:classes,scores", "classify:scores", "predict:classes,logits",
        "predict:o",
    ]  # fmt: skip


def test_ways_in_and_out():
    told = python(
        BEGIN
        + """
    ways = {"a": (0, {"x": 1}), "b": (0, {"x": 2})}
    assert exports.get_output_alternatives(ops("infer", {"p": 1}, output_alternatives=ways), "b") == (ways, "b")
    none, key = exports.get_output_alternatives(ops("infer", {"p": 1}, output_alternatives={}))
    assert none == {"default_output_alternative": (0, {"p": 1})} and key in none
    two = ops("infer", {"p": 1}, output_alternatives=ways)
    assert "are: ['a', 'b']" in refused(exports.get_output_alternatives, two, "c")
    assert refused(exports.get_output_alternatives, two).startswith("Please specify")
    inputs, features = exports.get_input_alternatives(({"f": 1}, None))
    assert features == {"f": 1}
    assert "A default input_alternative" in refused(exports.build_all_signature_defs, inputs, ways, "a")
    text, number = tf.placeholder(tf.string, [1]), tf.constant([1.0])
    made = exports.build_all_signature_defs(
        {exports.DEFAULT_INPUT_ALTERNATIVE_KEY: {"in": text}}, {"h": (2, {"o": number})}, "h"
    )
    print(*sorted(made))
    """
    )
    assert told == ["default_input_alternative:h", "serving_default"]


def test_strategies_and_folders():
    told = python(
        BEGIN
        + """
    class Exporting:
        def export_savedmodel(self, where, serving_input_fn, **more):
            os.makedirs(where)
            return where

    base = tempfile.mkdtemp()
    best = exports.make_best_model_export_strategy(None, exports_to_keep=2)
    losses = {"a": 5.0, "b": 6.0, "c": 4.0, "d": 3.0}
    said = [bool(best.export(Exporting(), base, "run/" + k, {"loss": v})) for k, v in losses.items()]
    print(said, *sorted(os.listdir(base)))
    assert "empty" in refused(best.export, Exporting(), base, "", {"loss": 1.0})
    assert "empty" in refused(best.export, Exporting(), base, "run/e", None)

    def first(estimator, base, checkpoint_path=None):
        os.makedirs(base + "/e1")
        return base + "/e1"

    strategy, where = exports.ExportStrategy("Servo", first), tempfile.mkdtemp() + "/model"
    last = exports.extend_export_strategy(strategy, lambda old, new: new + "/rewrite", "Servo2")
    assert last.export(None, where, "c") == where + "/rewrite" and last.name == "Servo2"
    away = exports.extend_export_strategy(strategy, lambda old, new: "/elsewhere")
    assert "sub-directory" in refused(away.export, None, where, "c")

    base = tempfile.mkdtemp()
    for name in ("1500000001", "1500000002", "1500000003"):
        os.mkdir(os.path.join(base, name))
    exports.garbage_collect_exports(base, 2)
    newest, number = exports.get_most_recent_export(base)
    assert newest.endswith("1500000003") and number == 1500000003 and len(os.listdir(base)) == 2
    assert exports.get_temp_export_dir("/a/17") == "/a/temp-17"
    assert os.path.basename(exports.get_timestamped_export_dir(base)).isdigit()
    """
    )
    assert told == ["[True,", "False,", "True,", "True]", "c", "d"]


def test_predictors_of_estimators():
    told = python(
        BEGIN
        + """
    P, E = tf.contrib.predictor, tf.estimator

    def inputs():
        return {name: tf.placeholder_with_default(0.0, [], name=name) for name in "xy"}

    def model(features, labels, mode):
        answers = {"sum": features["x"] + features["y"], "product": features["x"] * features["y"]}
        ways = {name: E.export.PredictOutput({name: value}) for name, value in answers.items()}
        ways["serving_default"] = E.export.PredictOutput(answers)
        return E.EstimatorSpec(mode, answers, tf.constant(0.0), tf.no_op(), export_outputs=ways)

    def old_model(features, labels, mode):
        total = features["x"] + features["y"]
        return ops(mode, total, tf.constant(0.0), tf.no_op(), output_alternatives={"sum": (0, {"sum": total})})

    def receive():
        features = inputs()
        return E.export.ServingInputReceiver(features, features)

    def given():
        features = inputs()
        return exports.InputFnOps(features, None, features)

    new, old, fed = E.Estimator(model), tf.contrib.learn.Estimator(old_model), {"x": 2.0, "y": 3.0}
    answers = P.from_estimator(new, receive)(fed)
    print(answers["sum"], answers["product"], *P.from_estimator(new, receive, "sum")(fed))
    print(*P.from_contrib_estimator(old, given)(fed).items())
    assert "output_key must be one of" in refused(P.from_estimator, new, receive, "other")
    assert "from_contrib_estimator" in refused(P.from_estimator, old, receive)
    assert "from_estimator" in refused(P.from_contrib_estimator, new, given)
    """
    )
    assert told[:3] == ["5.0", "6.0", "sum"] and told[3] == "('sum'," and "5.0" in told[4]
