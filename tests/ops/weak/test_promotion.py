"""The lattice in which dtypes meet, and its modes: TensorFlow 2.21's answers."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.numpy.behaviour import set_dtype_conversion_mode
from ebbflow.ops.weak import promotion
from ebbflow.ops.weak.promotion import PromoMode


@pytest.fixture(params=["all", "safe"])
def mode(request):
    set_dtype_conversion_mode(request.param)
    yield request.param
    set_dtype_conversion_mode("off")


#   values                                        all                    safe
MEETINGS = [
    ((1, 2), (tf.int32, True), "same"),
    ((1, 2.5), (tf.float32, True), "same"),
    ((1, 1j), (tf.complex128, True), "same"),
    ((np.int8(1), 2), (tf.int8, False), "same"),
    ((np.int8(1), 2.5), (tf.float64, True), "refused"),
    ((np.uint8(1), np.int8(1)), (tf.int16, False), "refused"),
    ((np.uint64(1), np.int8(1)), (tf.float64, True), "refused"),
    ((tf.bfloat16, tf.float16), (tf.float32, False), "refused"),
    ((tf.float16, 2.5, 1), (tf.float16, False), "same"),
    ((True, 1), (tf.int32, True), "same"),
    ((True, True), (tf.bool, False), "same"),
    (("a", b"b"), (tf.string, False), "same"),
    ((tf.TensorShape([1]), 2), (tf.int32, False), "same"),
    (([1, [2.5]],), (tf.float32, True), "same"),
    ((), (tf.float32, True), "same"),
]


@pytest.mark.parametrize(("values", "met", "safe"), MEETINGS, ids=str)
def test_values_meet(values, met, safe, mode):
    if mode == "safe" and safe == "refused":
        with pytest.raises(TypeError, match=r"In promotion mode PromoMode.SAFE, implicit dtype promotion"):
            promotion.result_type(*values)
    else:
        assert promotion.result_type(*values) == met


def test_what_cannot_meet(mode):
    with pytest.raises(NotImplementedError, match="string"):
        promotion.result_type("a", 1)
    with pytest.raises(NotImplementedError, match="RaggedTensor"):
        promotion.result_type(tf.ragged.constant([[1]]), 1)
    with pytest.raises(OverflowError, match="1099511627776 too large"):
        promotion.result_type(2**40)


def test_the_table_is_whole():
    kinds = list(promotion.HALF)
    assert len(kinds) == 20
    assert all(list(promotion.HALF[kind]) == kinds[row:] for row, kind in enumerate(kinds))
    assert all(promotion.FULL[one][other] == promotion.FULL[other][one] for one in kinds for other in kinds)


def test_modes_have_names():
    assert [promotion.promo_mode_enum_to_string(mode) for mode in PromoMode] == ["off", "legacy", "safe", "all"]
    assert promotion.get_dtype_conversion_mode() is PromoMode.OFF
    with pytest.raises(ValueError, match="promotion mode zz does not exist"):
        set_dtype_conversion_mode("zz")
