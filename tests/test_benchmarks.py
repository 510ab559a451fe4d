"""The benchmarks' workloads give the right numbers on Ebbflow: tiny sizes, a NumPy reference, never a time."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow
from benchmarks import check, op_calls, ops, queues, reference
from benchmarks.problems import PROBLEMS, RATE, Pipeline, readings, sparse_rows, translations
from benchmarks.table import Row, markdown, show
from benchmarks.work import tf_data, tf_sequences, tf_work
from benchmarks.worker import best_time, flatten

FORMS = [(name, form) for name in PROBLEMS for form in tf_work.forms(name) if form != "xla"]
TRAINED = [(name, form) for name, form in FORMS if PROBLEMS[name].kind in ("sgd", "adam")]
DIFFERENTIATED = [(name, form) for name, form in FORMS if PROBLEMS[name].kind == "gradients"]
CLOSE = {"rtol": 2e-4, "atol": 2e-5}  # single precision beside double


def sample(parameters):
    """Return three entries of every parameter."""
    random = np.random.RandomState(1)
    return [(k, tuple(random.randint(n) for n in x.shape)) for k, x in parameters.items() for _ in range(3)]


def pick(arrays, entries):
    return np.array([arrays[key][index] for key, index in entries], np.float64)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_answers_are_the_reference(name, form):
    work = tf_work.build(name, form, tiny=True)
    found = list(flatten(work.results(work.run())))
    expected = reference.answer(name, *PROBLEMS[name].arrays(tiny=True))
    assert len(found) >= len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, **CLOSE)


@pytest.mark.parametrize(("name", "form"), DIFFERENTIATED)
def test_gradients_are_the_slopes_of_the_reference(name, form):
    parameters, inputs = PROBLEMS[name].arrays(tiny=True)
    entries = sample(parameters)
    work = tf_work.build(name, form, tiny=True)
    gradients = dict(zip(parameters, map(np.asarray, list(flatten(work.results(work.run())))[1:])))
    np.testing.assert_allclose(
        pick(gradients, entries), reference.slopes(name, parameters, inputs, entries), rtol=1e-3, atol=1e-5
    )


@pytest.mark.parametrize(("name", "form"), TRAINED)
def test_steps_move_the_parameters_as_the_rule_says(name, form):
    start, inputs = PROBLEMS[name].arrays(tiny=True)
    entries = sample(start)
    work = tf_work.build(name, form, tiny=True)
    states = [start]
    for _ in range(2):
        work.run()
        states.append({key: np.array(x) for key, x in work.parameters().items()})
    slopes = [reference.slopes(name, state, inputs, entries) for state in states[:2]]
    # Adam divides a gradient by its own size: of one that is all rounding it makes a whole step.
    clear = np.all([(np.abs(g) > 1e-4) | (g == 0) for g in slopes], axis=0)
    assert clear.sum() > len(entries) // 2
    for i, update in enumerate(reference.updates(PROBLEMS[name].kind, slopes)):
        moved = pick(states[i + 1], entries) - pick(states[i], entries)
        np.testing.assert_allclose(moved[clear], update[clear], rtol=5e-3, atol=1e-6)


@pytest.mark.parametrize("name", list(tf_work.WORKLOADS))
def test_other_workloads_run(name, monkeypatch):
    monkeypatch.setattr(tf_data, "PIPELINE", Pipeline(600, 50, 16, 500, 40, 3))
    work = tf_work.WORKLOADS[name]()
    work.run()
    assert work.units >= 1


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda p: p.name)
def test_problems_are_the_same_in_every_process_and_have_sane_limits(problem):
    for first, second in zip(problem.arrays(tiny=True), problem.arrays(tiny=True)):
        assert all(np.array_equal(first[key], second[key]) for key in first)
    limit = problem.limit(1e11, 1e10)
    assert limit is None or 1e-5 < limit < 10


def test_best_time_counts_units():
    calls = []
    assert 0 < best_time(tf_work.Work(lambda: calls.append(1), 10), 0.001) < 0.1
    assert len(calls) > 1


def test_check_sees_a_difference():
    same = [[1.0, [2.0, 3.0]], [[4.0]]]
    assert check._compare(same, same) is None
    assert "[0]" in check._compare([[1.0, [2.0, 3.001]], [[4.0]]], same)
    assert "[1]" in check._compare([[1.0, [2.0, 3.0]], [[4.0, 4.0]]], same)


def test_the_table_shows_ours_over_the_best_peer():
    row = Row("work", limit=0.05)
    for framework, value, form in (("ebbflow", 0.2, "session"), ("tensorflow", 0.4, ""), ("jax", 0.3, "jit")):
        row.add(framework, value, form)
    row.add("jax", 0.5, "jit")
    assert row.ratio == pytest.approx(2 / 3)
    last = markdown([row], ["numpy", "ebbflow", "tensorflow", "jax"]).splitlines()[-1]
    assert last == "| work | – | 200.0 ms session | 400.0 ms | 300.0 ms | 0.67 | 50.0 ms |"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.2e-7, "seconds", "0.42 µs"),
        (4.2e-4, "seconds", "420 µs"),
        (4.2e-3, "seconds", "4.20 ms"),
        (4.2, "seconds", "4.20 s"),
        (4.2e8, "bytes", "420 MB"),
        (None, "seconds", "–"),
    ],
)
def test_show(value, unit, text):
    assert show(value, unit) == text


@pytest.mark.parametrize("name", ["_mlp", "_cnn", "_lstm", "_transformer"])
def test_keras_models_learn(name):
    from benchmarks.work import keras_work

    keras_work.keras_package().utils.set_random_seed(0)
    model = keras_work.compiled(getattr(keras_work, name))
    x, y = keras_work.data_for(model, 32)
    losses = model.fit(x, y, batch_size=16, epochs=4, verbose=0).history["loss"]
    assert np.isfinite(losses).all() and losses[-1] < losses[0]


def test_predict_of_one_row_gives_what_a_direct_call_gives():
    from benchmarks.work import keras_work

    keras_work.keras_package().utils.set_random_seed(0)
    predicted = keras_work.keras_predict_one_row().run()
    keras_work.keras_package().utils.set_random_seed(0)
    np.testing.assert_allclose(predicted, keras_work.keras_direct_one_row().run(), rtol=1e-6)


@pytest.mark.parametrize("group", op_calls.GROUPS)
def test_calls_of_ops_run(group):
    for call in op_calls.GROUPS[group].split():
        op_calls.ready(ebbflow, call, 12)()


def test_ops_that_are_far_behind_come_first():
    times = {
        ("a", 10): {"ebbflow": 2.0, "tensorflow": 1.0},
        ("b", 1_000_000): {"ebbflow": 2.5, "tensorflow": 1.0},
        ("c", 10): {"ebbflow": 3.0},
    }
    assert [(round(value, 2), call) for value, call, _ in ops.excess(times)] == [(2.0, "a"), (1.67, "b")]
    page = ops.markdown(times, ["c of 10 on tensorflow: it failed"])
    assert "10 elements: 1 calls, median ratio 2.00, 1 above 1.0" in page
    assert "Not run: c of 10 on tensorflow: it failed" in page


def test_an_encoder_decoder_learns_from_batches_of_other_lengths(monkeypatch):
    monkeypatch.setattr(tf_sequences, "translations", lambda: translations()[1:4:2])  # of 3 and of 4 words
    work = tf_sequences.encoder_decoder_batch()
    losses = [np.mean(work.run()) for _ in range(8)]
    assert work.units == 2 and losses[0] > 2 and losses[-1] < losses[0]


def test_an_lstm_learns_from_sequences_of_other_lengths(monkeypatch):
    few = [[x[:4, :n], y[:4]] for (x, y), n in zip(readings(), range(3, 12), strict=False)]
    monkeypatch.setattr(tf_sequences, "readings", lambda: few)
    work = tf_sequences.lstm_of_41_lengths()
    losses = [np.mean(work.run()) for _ in range(8)]
    assert work.units == 9 and losses[-1] < losses[0]


def test_embedding_rows_move_by_their_gradient():
    table, ids = sparse_rows()
    work = tf_sequences.embedding_rows()
    wanted = table.copy()
    for _ in range(3):
        slopes = 2 * wanted[ids] / wanted[ids].size
        work.run()
        np.subtract.at(wanted, ids, np.float32(RATE) * slopes)
    np.testing.assert_allclose(work.parameters()["table"], wanted, rtol=1e-5)


def test_examples_come_whole_through_queues(tmp_path, monkeypatch):
    monkeypatch.setattr(queues, "EXAMPLES", 300)
    monkeypatch.setattr(queues, "CAPACITY", 100)
    monkeypatch.setattr(queues, "LEAST", 50)
    monkeypatch.setattr(queues, "BATCH", 20)
    v1 = queues.load("ebbflow")
    queues.write(v1, str(tmp_path / "examples"))
    with v1.Graph().as_default(), v1.Session() as session:
        label, name, x = queues.pipeline(v1, str(tmp_path / "examples"), 2)
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        for _ in range(20):
            labels, names, rows = session.run([label, name, x])
            numbers = np.array([int(one[4:]) for one in names])
            assert (labels == numbers % 10).all() and (rows[:, 0] == numbers).all()
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=20)
