"""Device names: TensorFlow's recorded answers, then matching and what V1 can change."""

import pathlib
import pickle
import runpy
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbflow.core import device
from ebbflow.core.device import DeviceSpecV1, DeviceSpecV2

ROOT = pathlib.Path(__file__).resolve().parents[1]
ASK = runpy.run_path(str(ROOT / "golden" / "core" / "ask.py"))
NAMESPACE = {"V1": DeviceSpecV1, "V2": DeviceSpecV2, "device": device, "Node": types.SimpleNamespace}
FULL = "/job:localhost/replica:0/task:0/device:GPU:1"


@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("device"))
def test_answers_as_tensorflow(question, answer):
    assert ASK["ask"](question, NAMESPACE) == answer


law = settings(deadline=None, derandomize=True, database=None)

numbers = st.none() | st.integers(0, 99)
parts = st.builds(
    device.Parts,
    st.none() | st.text("ab_1", min_size=1, max_size=5),
    numbers,
    numbers,
    st.none() | st.sampled_from(["CPU", "GPU", "TPU", "XLA_GPU"]),
    numbers,
).map(lambda p: p if p.device_type else p._replace(device_index=None))


@law
@given(parts)
def test_writing_and_parsing_are_inverse(given_parts):
    assert device.parse(device.to_string(given_parts)) == given_parts
    assert device.is_fully_specified(given_parts) == (None not in given_parts)


@law
@given(parts, parts)
def test_the_inner_device_has_the_last_word(outer, inner):
    merged = device.merge(outer, inner)
    assert device.matches(inner, merged)
    assert device.merge(merged, inner) == merged
    if device.is_compatible(outer, inner):
        assert device.matches(outer, merged)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", True),
        (None, True),
        ("/gpu:1", True),
        ("/gpu:*", True),
        ("GPU", True),
        ("/gpu:0", False),
        ("/cpu:1", False),
        ("/job:localhost", True),
        ("/job:worker", False),
        ("/task:0/device:GPU:1", True),
        ("/task:1", False),
        (FULL, True),
        (DeviceSpecV2(device_type="GPU"), True),
        (DeviceSpecV1(replica=1), False),
    ],
)
def test_matching(pattern, expected):
    assert device.matches(pattern, FULL) is expected
    assert device.is_compatible(pattern, FULL) is expected


def test_an_open_name_matches_nothing_closed():
    assert not device.matches("/gpu:0", "/gpu:*")
    assert device.is_compatible("/gpu:0", "/gpu:*")
    assert device.is_fully_specified(FULL)
    assert not device.is_fully_specified("/gpu:0")


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("job", "ps", "/job:ps/task:1/device:GPU:3"),
        ("job", None, "/task:1/device:GPU:3"),
        ("replica", "2", "/job:w/replica:2/task:1/device:GPU:3"),
        ("task", 7, "/job:w/task:7/device:GPU:3"),
        ("device_type", "cpu", "/job:w/task:1/device:CPU:3"),
        ("device_index", "4", "/job:w/task:1/device:GPU:4"),
        ("device_index", None, "/job:w/task:1/device:GPU:*"),
    ],
)
def test_v1_specs_can_be_changed_and_v2_cannot(field, value, name):
    spec = DeviceSpecV1(job="w", task=1, device_type="GPU", device_index=3)
    setattr(spec, field, value)
    assert spec.to_string() == name
    with pytest.raises(AttributeError):
        setattr(DeviceSpecV2(job="w"), field, value)
    with pytest.raises(AttributeError):
        spec.no_such_field = 1


def test_v1_parses_and_merges_in_place():
    spec = DeviceSpecV1(job="w", task=1, device_type="GPU", device_index=3)
    spec.merge_from(DeviceSpecV1(task=2, device_type="CPU"))
    assert spec.to_string() == "/job:w/task:2/device:CPU:3"
    assert spec.parse_from_string("/job:ps") is spec
    assert spec.to_string() == "/job:ps"
    fixed = DeviceSpecV2(job="w")
    assert fixed.parse_from_string("/job:ps").to_string() == "/job:ps"
    assert fixed.to_string() == "/job:w"


@pytest.mark.parametrize("cls", [DeviceSpecV1, DeviceSpecV2])
def test_specs_survive_pickling(cls):
    spec = cls(job="w", task=1, device_type="GPU")
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    assert type(again) is cls


@pytest.mark.parametrize("junk", [3, b"/gpu:0", ["/gpu:0"], object()])
def test_names_are_strings(junk):
    for read in (device.canonical_name, DeviceSpecV2.from_string, device.parse):
        with pytest.raises(TypeError, match="A device name must be a string"):
            read(junk)


def test_a_changing_spec_is_not_shared():
    spec = DeviceSpecV1(job="a")
    node = types.SimpleNamespace(device="/gpu:0")
    merge = device.merge_device(spec)
    assert merge(node).to_string() == "/job:a/device:GPU:0"
    spec.job = "b"
    assert device.merge_device(DeviceSpecV1(job="a"))(node).to_string() == "/job:a/device:GPU:0"
    assert device.merge_device("/job:a")(node).to_string() == "/job:a/device:GPU:0"


def test_a_registered_type_may_be_written_short():
    with pytest.raises(ValueError, match="Unknown attribute 'npu'"):
        device.parse("/npu:1")
    device.register_device_type("npu")
    try:
        assert device.canonical_name("/npu:1") == "/device:NPU:1"
    finally:
        device._short_types.discard("NPU")
        device._parse.cache_clear()
