"""Descriptions of tables, features and optimizers: what they say, and what they refuse in TensorFlow's words."""

import pytest

import ebbflow as tf

E = tf.tpu.experimental.embedding
TABLE = E.TableConfig(3, 4, name="t")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: E.TableConfig(0, 2), "`vocabulary_size` must be an int and must be >= 1. Received: 0"),
        (lambda: E.TableConfig(3, -2), r"`dim` \(embedding dimension\) must be an int and must be >= 1. Received: -2"),
        (lambda: E.TableConfig(3, 2, initializer=5), r"must be a callable \(or None\). Received: 5"),
        (lambda: E.TableConfig(3, 2, combiner="max"), "must be in .*Received: max"),
        (lambda: E.FeatureConfig(3), "`table` has invalid type <class 'int'>"),
        (lambda: E.FeatureConfig(TABLE, max_sequence_length=-1), "must be >= 0. Received: -1"),
        (lambda: E.QuantizationConfig(1, -1.0, 1.0), "num_buckets is 1"),
        (lambda: E.Adam(beta_1=1.5), "`beta_1` must be >= 0 and < 1. Received: 1.5"),
        (lambda: E.Adam(epsilon=-1), "epsilon must be positive; got -1"),
        (lambda: E.Adam(use_gradient_accumulation=False, lazy_adam=False), "gradient accumulation must be used"),
        (lambda: E.Adam(slot_variable_creation_fn=3), "must be either None or a callable. Received: 3"),
        (lambda: E.Adagrad(initial_accumulator_value=0), "must be a positive float. Received: 0"),
        (lambda: E.FTRL(initial_accumulator_value=0), "must be a positive float. Received: 0"),
        (lambda: E.AdagradMomentum(exponent=0), "exponent must >0"),
        (lambda: E.AdagradMomentum(epsilon=0), "epsilon must be positive"),
        (lambda: E.SGD(use_gradient_accumulation=False, clipvalue=2.0), "Received value 2.0 for argument `clipvalue`"),
    ],
)
def test_refusals(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_optimizers_are_equal_when_they_say_the_same():
    assert E.SGD() == E.SGD(0.01)
    assert hash(E.SGD()) == hash(E.SGD(0.01))
    assert E.SGD() != E.SGD(0.02)
    assert E.Adam() != E.Adagrad(0.001)
    assert (E.SGD(clipvalue=2.0).clip_gradient_min, E.SGD(clipvalue=(1, -1)).clip_gradient_max) == (-2.0, -1)


def test_they_print_what_they_say():
    said = "TableConfig(vocabulary_size=3, dim=4, initializer=None, optimizer=None, combiner='mean', name='t', "
    said += "quantization_config=None)"
    assert repr(TABLE) == said
    assert repr(E.FeatureConfig(TABLE, output_shape=[2, 3])) == (
        f"FeatureConfig(table={said}, max_sequence_length=0, validate_weights_and_indices=True, "
        "output_shape=TensorShape([2, 3]), name=None)"
    )
    assert repr(E.QuantizationConfig(10, -1.0, 1.0)) == "QuantizationConfig(num_buckets=10, lower=-1.0, upper=1.0)"


def test_rows_of_their_numbers():
    assert E.RowIdInitializer(3)((3, 2), tf.float32).numpy().tolist() == [[3, 3], [4, 4], [5, 5]]
