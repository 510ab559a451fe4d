"""`tf.flags`: defining, reading the command line, refusing nonsense; and absl's flags where a program brings absl."""

import enum
import subprocess
import sys

import pytest

from ebbflow.platform import own_flags


class Kind(enum.Enum):
    SMALL = 1
    LARGE = 2


@pytest.fixture
def flags():
    values = own_flags.FlagValues()
    own_flags.DEFINE_string("name", "x", "a name", flag_values=values, short_name="n")
    own_flags.DEFINE_integer("count", 3, "a number", lower_bound=0, upper_bound=100, flag_values=values)
    own_flags.DEFINE_float("rate", 0.5, "a rate", flag_values=values)
    own_flags.DEFINE_boolean("quick", False, "whether", flag_values=values)
    own_flags.DEFINE_list("parts", ["a"], "a list", flag_values=values)
    own_flags.DEFINE_spaceseplist("words", "", "words", flag_values=values)
    own_flags.DEFINE_enum("mode", "train", ["train", "eval"], "a mode", flag_values=values)
    own_flags.DEFINE_enum_class("kind", Kind.SMALL, Kind, "a kind", flag_values=values)
    own_flags.DEFINE_multi_string("extra", None, "extras", flag_values=values)
    own_flags.DEFINE_multi_integer("sizes", [1], "sizes", flag_values=values)
    return values


@pytest.mark.parametrize(
    "words, name, value",
    [
        ([], "name", "x"),
        (["--name=y"], "name", "y"),
        (["--name", "y"], "name", "y"),
        (["-name=y"], "name", "y"),
        (["-n", "y"], "name", "y"),
        (["--name="], "name", ""),
        (["--count=0x1f"], "count", 31),
        (["--count", "-0"], "count", 0),
        (["--rate=1e-3"], "rate", 1e-3),
        (["--rate", "-2"], "rate", -2.0),
        (["--quick"], "quick", True),
        (["--noquick"], "quick", False),
        (["--quick=False"], "quick", False),
        (["--quick=1"], "quick", True),
        (["--parts=a, b,c"], "parts", ["a", "b", "c"]),
        (["--parts="], "parts", []),
        (["--words=a b"], "words", ["a", "b"]),
        (["--mode=eval"], "mode", "eval"),
        (["--kind=large"], "kind", Kind.LARGE),
        (["--extra=a", "--extra", "b"], "extra", ["a", "b"]),
        ([], "extra", None),
        (["--sizes=4", "--sizes=5"], "sizes", [4, 5]),
        (["--name=a", "--name=b"], "name", "b"),
    ],
)
def test_reading(flags, words, name, value):
    assert flags(["prog", *words]) == ["prog"]
    assert getattr(flags, name) == value == flags[name].value


@pytest.mark.parametrize(
    "words, rest",
    [
        (["a", "--quick", "b"], ["a", "b"]),
        (["--", "--quick"], ["--quick"]),
        (["-"], ["-"]),
        (["--name", "--quick", "c"], ["c"]),
    ],
)
def test_what_is_left(flags, words, rest):
    assert flags(["prog", *words]) == ["prog", *rest]


def test_unknown_flags(flags):
    with pytest.raises(
        own_flags.UnrecognizedFlagError, match=r"Unknown command line flag 'cuont'\. Did you mean: count"
    ):
        flags(["prog", "--cuont=3"])
    assert flags(["prog", "--cuont=3", "--count=4", "z"], known_only=True) == ["prog", "--cuont=3", "z"]
    assert flags.count == 4


@pytest.mark.parametrize(
    "word",
    [
        "--count=x",
        "--count=1.5",
        "--count=101",
        "--count=-1",
        "--rate=fast",
        "--quick=maybe",
        "--mode=run",
        "--kind=HUGE",
    ],
)
def test_values_that_make_no_sense(flags, word):
    with pytest.raises(own_flags.IllegalFlagValueError, match=word.partition("=")[0].lstrip("-")):
        flags(["prog", word])


def test_a_value_is_missing(flags):
    with pytest.raises(own_flags.Error, match="Missing value for flag --name"):
        flags(["prog", "--name"])


def test_twice_is_an_error(flags):
    with pytest.raises(own_flags.DuplicateFlagError, match="The flag 'name' is defined twice"):
        own_flags.DEFINE_string("name", "y", "again", flag_values=flags)


def test_setting_listing_and_forgetting(flags):
    flags(["prog", "--count=7"])
    flags.name = "set"
    assert flags.flag_values_dict()["name"] == "set" and "count" in flags and len(flags) == 10
    assert "--count=7\n" in flags.flags_into_string() and "--noquick\n" in flags.flags_into_string()
    flags.unparse_flags()
    assert not flags.is_parsed()
    flags.mark_as_parsed()
    assert flags.count == 3
    del flags.count
    with pytest.raises(AttributeError):
        _ = flags.count
    with pytest.raises(AttributeError):
        flags.no_such = 1


def test_first_words_for_arguments():
    values = own_flags.FlagValues()
    own_flags.DEFINE_integer(flag_name="n", default_value=2, docstring="how many", flag_values=values)
    values(["prog"])
    assert values.n == 2 and values["n"].help == "how many"


def test_reading_a_flag_reads_the_command_line(flags, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["prog", "--count=9", "--unknown"])
    assert flags.count == 9
    assert getattr(flags, "__flags")["count"] == 9
    assert flags._parse_flags() == ["prog", "--unknown"]


def test_flag_files(flags, tmp_path):
    (tmp_path / "more").write_text("--quick\n")
    (tmp_path / "f").write_text(f"# a comment\n--count=8\n\n--flagfile={tmp_path / 'more'}\n")
    flags(["prog", f"--flagfile={tmp_path / 'f'}", "--name=z"])
    assert (flags.count, flags.quick, flags.name) == (8, True, "z")
    with pytest.raises(own_flags.CantOpenFlagFileError):
        flags(["prog", "--flagfile", str(tmp_path / "none")])


def test_validators(flags):
    own_flags.mark_flag_as_required("extra", flags)
    with pytest.raises(own_flags.IllegalFlagValueError, match="--extra must have a value other than None"):
        flags(["prog"])
    flags(["prog", "--extra=a"])

    @own_flags.validator("count", "must be even", flag_values=flags)
    def even(value):
        return value % 2 == 0

    with pytest.raises(own_flags.IllegalFlagValueError, match="must be even"):
        flags.count = 5
    own_flags.mark_flags_as_mutual_exclusive(["name", "mode"], flag_values=flags)
    with pytest.raises(own_flags.IllegalFlagValueError, match="At most one of"):
        flags(["prog", "--count=4"])


def test_help_names_every_flag(flags):
    text = flags.get_help()
    assert "--count: a number" in text and "--[no]quick: whether" in text and "(default: 0.5)" in text


ABSL = """
import sys
from absl import app, flags
sys.argv = ["prog", "--mine=4", "--theirs=5"]
flags.DEFINE_integer("theirs", 0, "absl's")
import ebbflow.v1 as tf
tf.flags.DEFINE_integer("mine", 0, docstring="tf's")
def main(argv):
    print(tf.flags.FLAGS.mine, tf.flags.FLAGS.theirs, flags.FLAGS.mine, argv)
app.run(main) if {absl} else tf.app.run(main)
"""


@pytest.mark.parametrize("absl", [True, False])
def test_a_program_that_brings_absl_has_one_set_of_flags(absl):
    run = subprocess.run([sys.executable, "-c", ABSL.format(absl=absl)], capture_output=True, text=True)
    assert run.stdout == "4 5 4 ['prog']\n", run.stderr


APP = """
import ebbflow.v1 as tf
tf.app.flags.DEFINE_integer("n", 1, "how many")
def main(unused):
    print(unused, tf.app.flags.FLAGS.n)
    return 3
tf.app.run()
"""


@pytest.mark.parametrize(
    "words, out, code",
    [(["--n=4", "a"], "['-c', 'a'] 4\n", 3), (["--other"], "['-c', '--other'] 1\n", 3), (["--n=x"], "", 1)],
)
def test_app_run(words, out, code):
    run = subprocess.run([sys.executable, "-c", APP, *words], capture_output=True, text=True)
    assert (run.stdout, run.returncode) == (out, code)
    assert "Traceback" not in run.stderr


def test_app_help():
    run = subprocess.run([sys.executable, "-c", APP, "--help"], capture_output=True, text=True)
    assert run.returncode == 1 and "--n: how many" in run.stdout
