"""Tests of combinations: their names tell them apart, and are the same in every process."""

import ebbflow as tf
from ebbflow.testing.combinations import EagerGraphCombination, combine, generate_here, keywords_to_str, times


def test_names_tell_combinations_apart():
    values = [tf.int32, tf.float32, None, 3, "a", tf.TensorSpec([2]), tf.TensorSpec([2], name="n"), object(), lambda: 1]
    names = [keywords_to_str(one) for one in times(combine(mode=["eager"]), combine(value=values[:-2]))]
    assert len(set(names)) == len(names) and names[0] == "_mode_eager_value_dtypeint32"
    assert keywords_to_str(combine(f=values[-1])[0]) == keywords_to_str(combine(f=values[-2])[0]) == "_f_0"


def test_a_name_in_a_combination_is_no_argument_of_the_test():
    class Tests(tf.test.TestCase):
        def test_value(self, value):
            self.assertEqual(value, 3)

    rows = times(combine(mode=["eager"]), [{"testcase_name": "three", "value": 3}])
    found = generate_here(rows)(Tests)
    (name,) = [name for name in vars(found) if name.startswith("test_value")]
    result = found(name).run()
    assert result.wasSuccessful() and result.testsRun == 1


def test_names_keep_the_order_of_what_is_multiplied():
    (one,) = times(combine(mode="eager", run="now"), combine(kind="small"))
    assert keywords_to_str(one) == "_mode_eager_run_now_kind_small"


def test_what_a_test_makes_the_default_ends_with_its_mode():
    for mode in EagerGraphCombination().context_managers({"mode": "eager"}):
        with mode:
            tf.compat.v1.disable_eager_execution()
    assert tf.executing_eagerly()
