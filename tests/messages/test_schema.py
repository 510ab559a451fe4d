"""The schema in its private pool: classes, presence, losslessness over TensorFlow's own files, errors."""

import pathlib
import subprocess
import sys

import pytest

from ebbflow import messages
from ebbflow.core import errors

TF221 = pathlib.Path(__file__).parents[1] / "golden" / "tf221"


def kind_of_file(path):
    """The message class of a file, by its name."""
    names = {"saved_model.pb": "SavedModel", "fingerprint.pb": "FingerprintDef", "checkpoint": "CheckpointState"}
    by_ending = {".pb": "GraphDef", ".pbtxt": "GraphDef", ".meta": "MetaGraphDef"}
    return getattr(messages, names.get(path.name) or by_ending[path.suffix])


def files(*patterns):
    return sorted(p for pattern in patterns for p in TF221.rglob(pattern))


@pytest.mark.parametrize("path", files("*.pb", "*.meta"), ids=lambda p: str(p.relative_to(TF221)))
def test_bytes_come_back_as_they_were(path):
    data = path.read_bytes()
    assert messages.serialize(messages.parse(kind_of_file(path), data)) == data


@pytest.mark.parametrize("path", files("*.pb", "*.meta"), ids=lambda p: str(p.relative_to(TF221)))
def test_text_form_loses_nothing(path):
    msg = messages.parse(kind_of_file(path), path.read_bytes())
    assert messages.parse_text(messages.to_text(msg), type(msg)) == msg


@pytest.mark.parametrize("path", files("*.pbtxt"), ids=lambda p: str(p.relative_to(TF221)))
def test_text_files_equal_binary_files(path):
    binary = messages.parse(messages.GraphDef, path.with_suffix(".pb").read_bytes())
    assert messages.parse_text(path.read_text(), messages.GraphDef) == binary
    assert messages.to_text(binary) == path.read_text()


@pytest.mark.parametrize("path", files("checkpoint"), ids=lambda p: str(p.relative_to(TF221)))
def test_checkpoint_state_text(path):
    state = messages.parse_text(path.read_bytes(), messages.CheckpointState)
    assert state.model_checkpoint_path in state.all_model_checkpoint_paths


def test_every_message_can_be_made():
    assert len(messages.names()) > 150
    for name in messages.names():
        cls = getattr(messages, name)
        assert cls.FromString(messages.serialize(cls())) == cls(), name
        assert cls.DESCRIPTOR.name == name


NESTED = [
    ("Summary.Value", "Summary", "Value"),
    ("AttrValue.ListValue", "AttrValue", "ListValue"),
    ("RewriterConfig.CustomGraphOptimizer", "RewriterConfig", "CustomGraphOptimizer"),
    ("ConfigProto.Experimental", "ConfigProto", "Experimental"),
]


@pytest.mark.parametrize("name, parent, child", NESTED, ids=[n for n, _, _ in NESTED])
def test_nested_messages_are_attributes(name, parent, child):
    assert getattr(getattr(messages, parent), child).DESCRIPTOR.full_name == "tensorflow." + name


PROGRAMS_USE = """
    GraphDef NodeDef AttrValue NameAttrList TensorProto TensorShapeProto OpDef OpList VersionDef FunctionDef
    FunctionDefLibrary MetaGraphDef CollectionDef SignatureDef TensorInfo SaverDef SavedModel VariableDef QueueRunnerDef
    CondContextDef WhileContextDef SaveSliceInfoDef ConfigProto GPUOptions OptimizerOptions GraphOptions RewriterConfig
    AutoParallelOptions RunOptions RunMetadata StepStats DeviceStepStats NodeExecStats CostGraphDef DeviceAttributes
    ServerDef ClusterDef JobDef Summary SummaryDescription SummaryMetadata HistogramProto Event SessionLog LogMessage
    TaggedRunMetadata Example SequenceExample Feature Features FeatureList FeatureLists BytesList FloatList Int64List
    CheckpointState BundleHeaderProto BundleEntryProto TrackableObjectGraph SavedObjectGraph GraphDebugInfo
    OpLogProto GraphNodeProto MultiGraphNodeProto AdviceProto ProjectorConfig HParamDef SerializedDType Any
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", PROGRAMS_USE)
def test_messages_that_programs_use(name):
    assert isinstance(getattr(messages, name)().SerializeToString(), bytes)


def test_config_as_programs_write_it():
    config = messages.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    config.graph_options.optimizer_options.global_jit_level = messages.OptimizerOptions.ON_1
    config.graph_options.rewrite_options.remapping = messages.RewriterConfig.OFF
    again = messages.parse(messages.ConfigProto, messages.serialize(config))
    assert again.graph_options.optimizer_options.global_jit_level == 1
    assert dict(again.device_count) == {"GPU": 0}


def test_enums():
    types = messages.enum("DataType")
    assert types.Name(14) == "DT_BFLOAT16"
    assert types.Value("DT_FLOAT_REF") == 101
    assert messages.enum("SaverDef.CheckpointFormatVersion").items() == [("LEGACY", 0), ("V1", 1), ("V2", 2)]
    assert messages.RunOptions.FULL_TRACE == 3


def test_presence():
    empty, scalar = messages.AttrValue(), messages.AttrValue(shape=messages.TensorShapeProto())
    assert empty.WhichOneof("value") is None
    assert scalar.WhichOneof("value") == "shape"
    assert messages.serialize(scalar) == b"\x3a\x00"
    zero = messages.GraphDebugInfo.FileLineCol(line=0)  # proto2: an explicit zero is written
    assert messages.serialize(zero) == b"\x10\x00"
    assert messages.serialize(messages.VersionDef(producer=0)) == b""


def test_unknown_fields_survive():
    data = b"\x0a\x01a" + b"\xf8\x3f\x05"  # name "a", and a field 1023 that no version has
    assert messages.serialize(messages.parse(messages.NodeDef, data)) == data


def test_maps_are_written_in_order():
    forwards, backwards = messages.ConfigProto(), messages.ConfigProto()
    for key in "abcdefgh":
        forwards.device_count[key] = 1
    for key in "hgfedcba":
        backwards.device_count[key] = 1
    assert messages.serialize(forwards) == messages.serialize(backwards)


def test_any_expands_in_text():
    collection = messages.CollectionDef()
    collection.any_list.value.add().Pack(messages.AssetFileDef(filename="vocab.txt"))
    text = messages.to_text(collection)
    assert "[type.googleapis.com/tensorflow.AssetFileDef]" in text
    assert 'filename: "vocab.txt"' in text
    assert messages.parse_text(text, messages.CollectionDef) == collection


BROKEN = [
    (b"\x0a", "truncated"),
    (b"\x0a\xff\xff\xff\xff\x0f", "a length beyond the end"),
    (b"\x0a\x02\xff\xfe", "a string that is not UTF-8"),
    (b"\xff" * 20, "an endless varint"),
]


@pytest.mark.parametrize("data, why", BROKEN, ids=[why for _, why in BROKEN])
def test_broken_bytes_are_refused(data, why):
    with pytest.raises(errors.DataLossError, match=r"not a valid tensorflow\.NodeDef message in graph\.pb"):
        messages.parse(messages.NodeDef, data, "graph.pb")
    with pytest.raises(errors.InvalidArgumentError):
        messages.parse(messages.NodeDef, data, error=errors.InvalidArgumentError)


def test_deep_nesting_is_refused():
    data = b""
    for _ in range(2000):
        size = len(data)
        varint = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
        data = b"\x12" + varint + data  # FullTypeDef.args
    with pytest.raises(errors.DataLossError):
        messages.parse(messages.FullTypeDef, data)


@pytest.mark.parametrize("text", ["node {", "nodes {}", "node { name: 3 }", b"\xff\xfe"])
def test_broken_text_is_refused(text):
    with pytest.raises(errors.InvalidArgumentError, match=r"not the text of a tensorflow\.GraphDef message in graph"):
        messages.parse_text(text, messages.GraphDef, "graph")


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchMessage"):
        messages.NoSuchMessage  # noqa: B018
    assert not hasattr(messages, "no_such_module")
    assert "GraphDef" in dir(messages)


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_protobuf_is_imported_on_first_use_only():
    out = run(
        "import sys; from ebbflow import messages; from ebbflow.messages import attrs, tensors\n"
        "print('google.protobuf' in sys.modules); messages.GraphDef(); print('google.protobuf' in sys.modules)"
    )
    assert out.split() == ["False", "True"]


PROGRAMS_OWN = """
from tensorflow.core.framework import tensor_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
file = descriptor_pb2.FileDescriptorProto(name="own.proto", package="own", syntax="proto3")
file.dependency.extend(["tensorflow/core/framework/tensor.proto", "tensorflow/core/protobuf/error_codes.proto"])
field = file.message_type.add(name="Own").field
field.add(name="t", number=1, type=11, type_name=".tensorflow.TensorProto", label=1)
field.add(name="code", number=2, type=14, type_name=".tensorflow.error.Code", label=1)
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
Own = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName("own.Own"))
import tensorflow as tf
"""


def test_a_programs_own_messages_hold_tensorflows():
    use = "print(tf.make_ndarray(Own(t=tf.make_tensor_proto([1, 2]), code='NOT_FOUND').t).tolist())"
    installs = "from ebbflow.compat import alias\nalias.install()\n"
    assert run(installs + PROGRAMS_OWN + use).strip() == "[1, 2]"
    late = "from ebbflow import messages\nmessages.GraphDef()\n" + installs  # ours are made: two pools
    use = "print(Own.FromString(Own(code=5).SerializeToString()).code, Own().t.DESCRIPTOR.full_name)"
    assert run(late + PROGRAMS_OWN + use).split() == ["5", "tensorflow.TensorProto"]


def test_lives_beside_other_messages_of_the_same_name():
    out = run(
        "from google.protobuf import descriptor_pb2, descriptor_pool, message_factory\n"
        "f = descriptor_pb2.FileDescriptorProto(name='x.proto', package='tensorflow')\n"
        "f.message_type.add(name='GraphDef')\n"
        "pool = descriptor_pool.Default(); pool.AddSerializedFile(f.SerializeToString())\n"
        "other = message_factory.GetMessageClass(pool.FindMessageTypeByName('tensorflow.GraphDef'))\n"
        "from ebbflow import messages\nmessages.stand_in()\n"
        "print(other is messages.GraphDef, len(messages.GraphDef.DESCRIPTOR.fields), len(other.DESCRIPTOR.fields))"
    )
    assert out.split() == ["False", "5", "0"]


def test_first_use_from_many_threads():
    code = (
        "import threading; from ebbflow import messages\n"
        "names = ['SavedModel', 'ConfigProto', 'Event', 'RunMetadata', 'OpLogProto', 'Example'] * 4\n"
        "made, gate = [], threading.Barrier(len(names))\n"
        "def make(name): gate.wait(); made.append(getattr(messages, name)() is not None)\n"
        "threads = [threading.Thread(target=make, args=(n,)) for n in names]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(sum(made))"
    )
    assert run(code).strip() == "24"
