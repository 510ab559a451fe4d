"""`tf.random.Generator`: the program's own one, and what determinism forbids."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.platform import config
from ebbflow.state import random_generator


@pytest.fixture
def own_generator():
    yield
    config.disable_op_determinism()
    tf.random.set_global_generator(None)


def test_the_programs_generator_is_made_anew(own_generator):
    tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    assert tf.random.get_global_generator().state.numpy().tolist() == [1, 0, 0]
    assert tf.random.get_global_generator().state.name == "StateVar:0"
    tf.random.set_global_generator(None)
    assert tf.random.get_global_generator().state.numpy().tolist() != [1, 0, 0]


def test_determinism_wants_a_seed(own_generator):
    tf.random.set_global_generator(None)
    tf.config.experimental.enable_op_determinism()
    with pytest.raises(RuntimeError, match='"get_global_generator" cannot be called if determinism is enabled'):
        tf.random.get_global_generator()
    with pytest.raises(RuntimeError, match='"from_non_deterministic_state" cannot be called when determinism'):
        tf.random.Generator.from_non_deterministic_state()
    tf.random.set_global_generator(tf.random.Generator.from_seed(50))
    assert tf.random.get_global_generator().normal([2]).shape == (2,)


WANTS_A_SEED = {
    "uniform": lambda: tf.random.uniform([1]),
    "shuffle": lambda: tf.random.shuffle([1, 2]),
    "dropout": lambda: tf.nn.dropout([1.0, 2.0], 0.5),
    "function": lambda: tf.function(lambda: tf.random.normal([1]))(),
    "gamma": lambda: tf.random.gamma([1], 1.0),
    "categorical": lambda: tf.random.categorical([[1.0, 1.0]], 1),
    "flip": lambda: tf.image.random_flip_left_right(np.ones((2, 2, 1))),
    "dataset": lambda: tf.data.Dataset.range(3).shuffle(3),
    "fractional pool": lambda: tf.nn.fractional_max_pool(np.ones((1, 4, 4, 1)), [1.0, 1.5, 1.5, 1.0]),
    "fractional pool of v1": lambda: tf.compat.v1.nn.fractional_max_pool(np.ones((1, 4, 4, 1)), [1.0, 1.5, 1.5, 1.0]),
}


@pytest.mark.parametrize("name", WANTS_A_SEED)
def test_random_ops_want_a_seed_where_determinism_is_asked_for(own_generator, name):
    tf.config.experimental.enable_op_determinism()
    with pytest.raises((RuntimeError, ValueError), match="determinism is enabled"):
        WANTS_A_SEED[name]()
    assert tf.initializers.GlorotUniform()([2, 2]).shape == (2, 2)
    assert tf.random.uniform([1], seed=1).shape == (1,)


def test_integers_that_nobody_can_foretell():
    first, second = (random_generator.non_deterministic_ints([2, 3]) for _ in range(2))
    assert first.dtype == tf.int64 and first.shape == (2, 3)
    assert not (first == second).numpy().all()
