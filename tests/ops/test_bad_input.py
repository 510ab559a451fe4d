"""Bad input for every op: a right value or a typed error, never a crash, a hang or an unbounded allocation."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

import ebbflow as tf
import ebbflow.ops.foundation
from ebbflow.core.registry import registry
from tests.ops import golden, spoiled
from tests.ops.fuzz import fault
from tests.ops.good_arguments import good_cases

ROOT = pathlib.Path(__file__).parent.parent.parent


# program, its argument, how many calls it makes at least
PROGRAMS = [*(("fuzz", seed, 5000) for seed in range(4)), *(("spoiled", f"{part}/2", 3000) for part in range(2))]


@pytest.mark.parametrize(("program", "argument", "least"), PROGRAMS)
def test_odd_arguments_are_answered_or_refused(program, argument, least, tmp_path):
    code = f"import sys; sys.path.append({str(ROOT)!r}); sys.argv[1:] = ['{argument}']\n"
    code += f"from tests.ops import {program}; {program}.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, (
        f"the process died ({done.returncode}) at {done.stderr.splitlines()[-1:]}\n{done.stderr[-2000:]}"
    )
    lines = done.stdout.splitlines()
    assert lines[-1].endswith("calls made") and int(lines[-1].split()[0]) > least, lines[-1]
    assert len(lines) == 1, done.stdout


def test_faults_are_noticed():
    class Wrong:
        facts = registry["Tanh"].facts

        def __call__(self, **given):
            raise IndexError("out of bounds")

    assert fault(Wrong(), {}, graph=False) == "IndexError: out of bounds"


def test_faults_of_spoilt_arguments_are_noticed():
    def crash(tf, op, inputs, attrs):
        raise IndexError("out of bounds")

    def only_eagerly(tf, op, inputs, attrs):
        if not tf.executing_eagerly():
            raise ValueError("not here")
        return golden.call_raw_op(tf, op, inputs, attrs)

    case = good_cases()["Tanh"][0]
    assert spoiled.fault(golden.Runner(tf), case) is None
    assert "IndexError" in spoiled.fault(golden.Runner(tf, crash), case)
    assert "not alike" in spoiled.fault(golden.Runner(tf, only_eagerly), case)


def test_what_building_alone_refuses_is_excused_by_op_and_words():
    """Eagerly and with shapes that only a run knows it must still be answered alike."""

    def refused(words, late=False):
        def ask(tf, op, inputs, attrs):
            if not tf.executing_eagerly() and (late or all(t.shape.rank is not None for t in inputs.values())):
                raise tf.errors.InvalidArgumentError(None, None, words)
            return golden.call_raw_op(tf, op, inputs, attrs)

        return golden.Runner(tf, ask)

    known = "Shape must be at most rank 1 but is rank 2"
    total, tanh = good_cases()["Sum"][0], good_cases()["Tanh"][0]
    assert spoiled.fault(refused(known), total) is None
    assert "not alike" in spoiled.fault(refused(known, late=True), total)
    assert "not alike" in spoiled.fault(refused("no reason"), total)
    assert "not alike" in spoiled.fault(refused(known), tanh)


# why some ops have no good arguments of their own to spoil
ELSEWHERE = {
    "distribute/test_dtensor": r"Relayout",
    "handles of others: test_tensor_array_ops, test_tensor_list": "TensorArray.*|TensorList.*|EmptyTensorList|Stack.*",
    "references: the kernels of resources": "(Sparse)?Apply.*|Assign|AssignAdd|AssignSub|StridedSliceAssign|CountUpTo|"
    "Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update)|SdcaShrinkL1|Variable|VariableV2|IsVariableInitialized|(Destroy)?TemporaryVariable",
    "resources and no arrays: state's tests": "Resource(CountUpTo|StridedSliceAssign)|Var.*|ReadVariableOp|Mutex.*|"
    "DestroyResourceOp|DisableCopyOnRead|ConsumeMutexLock",
    "handles of tables and queues: their tests": ".*HashTable.*|LookupTable.*|InitializeTable.*|.*Queue.*|.*Reader.*|"
    "(Map|OrderedMap)?(Stage|Unstage|Peek|Size|IncompleteSize|Clear).*|.*Accumulator.*|Barrier.*|RecordInput",
    "handles of trees: learning's tests": "BoostedTrees.*(Ensemble|Resource|Predict|Outputs|CenterBias).*|"
    "IsBoostedTrees.*|BoostedTreesFlushQuantileSummaries",
    "control flow: functions' tests": "(Ref)?(Switch|Merge|Enter|Exit|NextIteration|Select)|LoopCond|ControlTrigger|"
    "RefIdentity|NoOp|Abort|(Stateless)?(If|While|Case)|(Stateful)?PartitionedCall|BatchFunction|FakeParam",
    "optionals: functions' tests": "Optional.*",
    "datasets and iterators: data's tests": ".*Dataset(V[2-4])?|.*Iterator.*|DatasetCardinality|DatasetTo.*|"
    "DatasetF(ingerprint|romGraph)|DummyIterationCounter|DistributedSave|(Unc|C)ompressElement|"
    "(Unw|W)rapDatasetVariant|GetElementAtIndex|GetOptions|MatchingFiles|.*SeedGenerator|.*MemoryCache|"
    "StatsAggregatorHandle(V2)?|ThreadPoolHandle|MapDefun",
    "composites in variants: data's tests, test_types": "Serialize(Many)?Sparse|Deserialize(Many)?Sparse|"
    "RaggedTensor.*Variant|CompositeTensorVariant(From|To)Components",
    "numbers that are others each time: sparse's tests": "Add(Many)?SparseToTensorsMap|TakeManySparseFromTensorsMap",
    "messages: parsing's tests": "DecodeProtoV2|EncodeProto",
    "groups of processes: distribute's tests": "Collective.*",
    "checkpoints: io's tests": "(Save|Restore)(V2|Slices?)?|MergeV2Checkpoints",
    "files, or as their kin: test_golden_calls": "ReadFile|WriteFile|DecodeWebP|Parse(Single)?SequenceExample",
    "files of checkpoints: checkpoint's and io's tests": "(Save|Restore)(V2|Slices?)?|MergeV2Checkpoints|"
    "ShardedFile(name|spec)|GenerateVocabRemapping|LoadAndRemapMatrix",
    "no shapes": "PyFunc.*|EagerPyFunc|Print.*|Assert|Placeholder.*|Const|Timestamp|(Deep)?Copy(Host)?|StringFormat|"
    "Encode.*|DeviceIndex|IsTensorFloat32Enabled|EmptyTensorMap",
    "as the stateless ones": "Stateful.*|Rng.*|NonDeterministicInts|RandomPoisson|.*Get.*Alg|.*FullIntV2|"
    "StatelessParam.*",
    "strings and files: summary's tests": ".*Summary.*|ImportEvent|(Get|Delete)Session.*",
    "gradients: spoilt with what they are gradients of": ".*Grad(V2)?|.*GradGradWithArgmax",
    "interfaces without kernels: functions' tests": "None|(Two)?(Int|Float|Int64|Ref|List)(Input|Output)s?|IntAttr|"
    "TestAttr|(Int|Float|Ref)(Input|Output)(Int|Float|String)(Input|Output)|FiveFloatOutputs|OpWith(Future)?DefaultAttr|"
    "A|B|Foo[123]|CopyOp|StringListAttr|(Two|RefInput)FloatInputs?(Int|Float)Output",
    "on a tree that must grow first: tests of forests": "(Create|Finalize)?Tree.*|TraverseTreeV4|UpdateModelV4|"
    "GrowTreeV4|ProcessInputV4|FeatureUsageCounts|(Create)?FertileStats.*|DecisionTreeResourceHandleOp",
    "another name of an op that has": "BatchMatrix.*|BatchMatMulV3|ParallelConcat|SparseFeatureCross(V2)?",
}


def test_every_op_has_good_arguments_to_spoil():
    known = good_cases()
    missing = {name for name in registry.names() if not any(re.fullmatch(names, name) for names in ELSEWHERE.values())}
    missing -= known.keys()
    assert missing == set() and len(known) > 400
