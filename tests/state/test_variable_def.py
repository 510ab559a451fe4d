"""Which part of a variable a checkpoint keeps, from its text."""

import pytest

import ebbflow as tf

Part = tf.Variable.SaveSliceInfo


def test_a_part_is_read_from_its_own_text():
    part = Part("foo", [2, 3, 4], [0, 2, 0], [1, 1, 3])
    again = Part.from_spec(part.spec)
    assert (again.full_shape, again.var_offset, again.var_shape) == ([2, 3, 4], [0, 2, 0], [1, 1, 3])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0", "space-separated full_shape"),
        ("a 0,1", "full_shape must be a sequence of int"),
        ("0 0:0", "comma-separated pairs"),
        ("0 a,0:0,0", "var_offset must be an integer"),
        ("0 0,a:0,0", "var_shape must be an integer"),
    ],
)
def test_other_texts_are_refused(text, says):
    with pytest.raises(ValueError, match=says):
        Part.from_spec(text)
