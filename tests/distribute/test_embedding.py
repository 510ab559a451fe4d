"""Tables that features look into; the answers are TensorFlow 2.21's, where it needs no TPU."""

import numpy as np
import pytest

import ebbflow as tf

E = tf.tpu.experimental.embedding
RAGGED = tf.ragged.constant([[1, 2], [3], []])
SPARSE = tf.sparse.from_dense([[1, 2], [3, 0]])


def table(**options):
    """The rows (0, 1), (2, 3), (4, 5), (6, 7)."""
    return E.TableConfig(4, 2, tf.constant_initializer(np.arange(8.0)), **{"name": "t", **options})


def looked_up(ids, weights=None, combiner="mean", **feature):
    config = E.FeatureConfig(table(combiner=combiner), **feature)
    return E.TPUEmbeddingForServing(config, E.SGD())(ids, weights).numpy()


@pytest.mark.parametrize(
    ("ids", "weights", "options", "expected"),
    [
        (tf.constant([[1, 2]]), None, {}, [[[2, 3], [4, 5]]]),
        (SPARSE, None, {}, [[3, 4], [6, 7]]),
        (RAGGED, None, {}, [[3, 4], [6, 7], [0, 0]]),
        (RAGGED, tf.ragged.constant([[1.0, 3], [2], []]), {}, [[3.5, 4.5], [6, 7], [0, 0]]),
        (SPARSE, tf.sparse.from_dense([[1.0, 3], [2, 0]]), {}, [[3.5, 4.5], [6, 7]]),
        (RAGGED, tf.ragged.constant([[1.0, 3], [2], []]), {"combiner": "sum"}, [[14, 18], [12, 14], [0, 0]]),
        (SPARSE, None, {"combiner": "sqrtn"}, [[4.2426405, 5.656854], [6, 7]]),
        (RAGGED, None, {"max_sequence_length": 1}, [[[2, 3]], [[6, 7]], [[0, 0]]]),
        (SPARSE, None, {"max_sequence_length": 3}, [[[2, 3], [4, 5], [0, 0]], [[6, 7], [0, 0], [0, 0]]]),
        (RAGGED, None, {"output_shape": [3, 1]}, [[[3, 4]], [[6, 7]], [[0, 0]]]),
        (RAGGED, None, {"output_shape": [6]}, [[2, 3], [4, 5], [6, 7], [0, 0], [0, 0], [0, 0]]),
        (tf.sparse.from_dense([[-1, 1]]), None, {}, [[2, 3]]),
    ],
)
def test_lookup(ids, weights, options, expected):
    np.testing.assert_allclose(looked_up(ids, weights, **options), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("ids", "weights", "options", "told"),
    [
        (tf.constant([1]), tf.constant([1.0]), {}, "Weight specified for , but input is dense"),
        (SPARSE, RAGGED, {}, "does not match type of the input"),
        (SPARSE, SPARSE, {"max_sequence_length": 2}, "this is a sequence feature"),
        (tf.constant([1]), None, {"max_sequence_length": 2}, "a dense tensor was passed"),
        ({"a": SPARSE}, None, {}, "Inputs are not a subset of feature_config"),
        (RAGGED, None, {"output_shape": [2]}, "input data batch size 3"),
        (tf.ragged.constant([[[1], [2, 3]]]), None, {}, "Only rank 2 ragged tensor is supported, but got rank 3"),
    ],
)
def test_lookup_refuses(ids, weights, options, told):
    with pytest.raises(ValueError, match=told):
        looked_up(ids, weights, **options)


def test_tables_in_functions_and_tapes():
    shared = table(combiner="sum")
    tables = E.TPUEmbeddingForServing({"a": E.FeatureConfig(shared), "b": [E.FeatureConfig(shared)]}, None)
    tables.build()
    values = tables.embedding_tables[shared]
    ask = tf.function(lambda ids: tables({"a": ids, "b": [ids]}))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(ask(RAGGED)["a"])
    slope = tf.convert_to_tensor(tape.gradient(loss, values))
    assert loss.numpy() == 27
    assert slope.numpy().tolist() == [[0, 0], [1, 1], [1, 1], [1, 1]]


def test_variables_and_their_keys(tmp_path):
    config = table()
    tables = E.TPUEmbeddingForServing(E.FeatureConfig(config), E.Adam())
    assert {name: list(kept) for name, kept in tables.variables.items()} == {
        "t": ["momenta", "velocities", "parameters"]
    }
    assert config.optimizer == E.Adam()
    path = tf.train.Checkpoint(m=tables).save(str(tmp_path / "x"))
    names = [name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name, _ in tf.train.list_variables(path)]
    assert names == ["_CHECKPOINTABLE_OBJECT_GRAPH", "m/t.Smomenta", "m/t.Svelocities", "m/t", "save_counter"]
    with pytest.raises(ValueError, match="Multiple tables with name t found"):
        E.TPUEmbeddingForServing([E.FeatureConfig(table()), E.FeatureConfig(table())], None)
    with pytest.raises(ValueError, match="unsupported optimizer class"):
        E.TPUEmbeddingForServing(E.FeatureConfig(table()), 5)


def test_slots_by_a_function_of_the_user():
    def make(values, names, initializers):
        made = {n: tf.Variable(i(values.shape, tf.float32) + 1) for n, i in zip(names, initializers, strict=True)}
        return {n: tf.Module()._no_dependency(v) for n, v in made.items()}

    tables = E.TPUEmbeddingForServing(E.FeatureConfig(table(optimizer=E.FTRL(slot_variable_creation_fn=make))), None)
    assert tables.variables["t"]["linears"].numpy().tolist() == [[1, 1]] * 4


def test_without_an_embedding_engine():
    with pytest.raises(RuntimeError, match="should be created under TPUStrategy"):
        E.TPUEmbeddingV0(E.FeatureConfig(table()), E.SGD())
    made = E.TPUEmbedding(E.FeatureConfig(table()), E.SGD())
    made.build()
    with pytest.raises(RuntimeError, match="dequeue is not valid"):
        made.dequeue()
    strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver("local"))
    with strategy.scope():
        feature = strategy.extended.tpu_hardware_feature.embedding_feature
        assert feature is tf.tpu.experimental.HardwareFeature.EmbeddingFeature.UNSUPPORTED
        tables = E.TPUEmbeddingV0(E.FeatureConfig(table()), E.SGD())
        engine = E.TPUEmbedding(E.FeatureConfig(table()), E.SGD())
    found = strategy.run(tf.function(lambda: tables(tf.constant([3]))))
    assert strategy.experimental_local_results(found)[0].numpy().tolist() == [[6, 7]]
    with pytest.raises(tf.errors.UnimplementedError, match="no TPU embedding engine"):
        engine.enqueue(SPARSE)
