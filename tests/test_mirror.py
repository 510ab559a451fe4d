"""Tests stand where what they test stands: `tests/ops/linalg/test_matmul.py` tests `ebbflow/ops/linalg/matmul.py`.

A file may test one module, one aspect of it (`test_function_gradients.py`: of `functions/function.py`), a whole room
(`compiler/passes/test_passes.py`), or recorded answers for a room (`test_golden_…`). The few that go across modules are
listed with what they are about.
"""

from __future__ import annotations

import pathlib

ROOT = pathlib.Path(__file__).parent.parent

ACROSS = {
    "api/test_annotations": "every public function, whatever its room",
    "api/test_inner_paths": "small modules that stand at TensorFlow's inner paths",
    "cluster/test_faults": "training over processes that are killed and frozen",
    "compiler/passes/test_texts": "every pass, as text before and after",
    "compiler/test_native_shares": "rows of work, from Flow to machine code",
    "compiler/test_native_updates": "updates of many variables, from the graph to machine code",
    "compiler/test_programs": "Programs against the executor",
    "compiler/test_variables": "variables in Programs of every engine",
    "core/test_truth_values": "True and False wherever numbers are converted",
    "data/test_bad_ends": "iterators that are dropped, stopped or forked, of every kind",
    "data/test_bad_files": "damaged bytes and files, for every op and dataset that reads them",
    "data/test_batch_size": "a batch's size in every kind of dataset",
    "data/test_let_go": "what is made of data goes, of every kind of dataset",
    "data/test_loops": "loops over datasets, eagerly and in functions",
    "data/test_planner": "what becomes of chains of datasets",
    "data/test_record_blocks": "records read by the block, in every kind of reader",
    "data/test_sessions": "datasets in TF 1 graphs",
    "distributions/test_recorded": "recorded answers of all distributions",
    "doors/test_hub": "a package of others, at both doors",
    "eager/test_gradient_by_name": "ops with two gradient rules, of all families",
    "engines/native/test_large": "large regions, of all lowerings",
    "engines/native/test_random_regions": "random regions, of all lowerings",
    "engines/onednn/test_engine": "the engine's own modules, together",
    "engines/onednn/test_ops": "every op that the engine serves",
    "engines/xla/test_ops": "every op that the engine serves",
    "engines/xla/test_regions": "regions that XLA takes",
    "feature_column/test_columns": "columns of both generations",
    "functions/autograph/test_scopes": "names in converted functions",
    "functions/control_flow/test_while": "loops: ops, functions and gradients",
    "io/test_bad_checkpoints": "spoilt files, by every reader",
    "linear/test_operators": "all kinds of linear operators",
    "ops/ragged/test_gather_inside": "gather by ragged indices, across three modules",
    "ops/test_bad_input": "bad input for every op",
    "ops/test_cases": "the checker of op tables",
    "ops/test_registry": "every op's declaration",
    "platform/test_surroundings": "small modules that programs expect around the library",
    "runtime/test_bad_graphs": "graphs that are not well made, by every way to run one",
    "savedmodel/test_old_models": "models of older TensorFlows",
    "train/test_update_rules": "the optimizers' ops, of ops/state and train",
}
OUTSIDE = ("tools/", "keras/")  # tests of what is beside the package, and of a package of others


def modules(package: pathlib.Path) -> set[str]:
    return {p.relative_to(package).with_suffix("").as_posix() for p in package.rglob("*.py")}


def has_its_place(test: str, known: set[str]) -> bool:
    """Whether a test (`ops/linalg/test_matmul`) stands where a module or room of that name does."""
    folder, _, name = test.rpartition("/")
    name = name.removeprefix("test_")
    room = folder.rpartition("/")[2]
    if name.startswith(("golden", room)):
        return f"{folder}/__init__" in known
    words = name.split("_")
    spans = [words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    places = [f"{folder}/{'_'.join(span)}" for span in spans]
    return any(place in known or f"{place}/__init__" in known for place in places)


def test_tests_stand_where_what_they_test_stands():
    known, wrong = modules(ROOT / "ebbflow"), []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        test = path.relative_to(ROOT / "tests").with_suffix("").as_posix()
        if "/" in test and not test.startswith(OUTSIDE) and test not in ACROSS and not has_its_place(test, known):
            wrong.append(test)
    assert not wrong, f"tests without a module of their place: {wrong}"


def test_the_list_of_those_that_go_across_is_true():
    known = modules(ROOT / "ebbflow")
    gone = [test for test in ACROSS if not (ROOT / "tests" / f"{test}.py").exists()]
    needless = [test for test in ACROSS if has_its_place(test, known)]
    assert not gone and not needless


def test_misplaced_tests_are_noticed():
    known = modules(ROOT / "ebbflow")
    assert has_its_place("ops/linalg/test_matmul", known) and has_its_place("functions/test_function_life", known)
    assert not has_its_place("state/test_matmul", known)
