"""`FLAGS` as until TensorFlow 1.4: for the program's own code."""

import types

import pytest
from absl import flags as absl_flags

from ebbflow.doors import old_flags
from ebbflow.platform import flags as platform_flags
from ebbflow.platform import own_flags

OWN, FOREIGN = "/program/train.py", "/elsewhere/library.py"


class Keeper:
    def __init__(self):
        self.lent = {}
        self.program = types.SimpleNamespace(asks=lambda frame: frame.f_code.co_filename == OWN)


def own():
    found = own_flags.FlagValues()
    found.define(own_flags.Flag("size", 3, None, parser=int))
    return found


def absls():
    found = absl_flags.FlagValues()
    absl_flags.DEFINE_integer("size", 3, "", flag_values=found)
    return platform_flags.ReadOnFirstUse(found)


@pytest.fixture(params=[own, absls])
def taught(request, monkeypatch):
    monkeypatch.setattr("sys.argv", ["program", "--size=4"])
    module = types.SimpleNamespace(FLAGS=request.param())
    keeper = Keeper()
    old_flags.teach(keeper, module)
    yield keeper, module.FLAGS
    old_flags.take_back(module)
    with pytest.raises(Exception, match="other"):
        module.FLAGS.other = 1


def do(statement, file, flags):
    exec(compile(statement, file, "exec"), {"FLAGS": flags})


def test_the_program_sets_any_name(taught):
    keeper, flags = taught
    do("FLAGS.words = {'a': 1}\nFLAGS.words['b'] = 2\nFLAGS.size = 5", OWN, flags)
    assert flags.words == {"a": 1, "b": 2} and flags.size == 5
    assert keeper.lent == {"FLAGS of any name": None}


def test_libraries_do_not(taught):
    keeper, flags = taught
    with pytest.raises(Exception, match="words"):
        do("FLAGS.words = 1", FOREIGN, flags)
    assert "words" not in flags and not keeper.lent


def test_values_are_in_a_dictionary(taught):
    _, flags = taught
    scope = {"FLAGS": flags}
    assert eval("FLAGS.__flags", scope) == {**vars(flags)["__flags"]}
    assert eval("FLAGS.__flags", scope)["size"] == 4
    do("FLAGS.words = 7", OWN, flags)
    assert dict(vars(flags)["__flags"])["words"] == 7
