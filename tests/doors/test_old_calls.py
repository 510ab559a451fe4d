"""Functions of other packages as programs called them: for the program's own code, and only where today's way fails."""

import random
import re
import sys
import types

import pytest

from ebbflow.doors import old_calls
from ebbflow.platform import files

OWN, FOREIGN = "/program/train.py", "/elsewhere/library.py"


class Keeper:
    def __init__(self):
        self.lent = {}
        self.program = types.SimpleNamespace(asks=lambda frame: frame.f_code.co_filename == OWN)


@pytest.fixture
def keeper():
    return Keeper()


def ask(expression, file, **scope):
    return eval(compile(expression, file, "eval"), scope)


def module_of(name, **members):
    """Return a module of a package that may not be installed here."""
    module = types.ModuleType(name)
    vars(module).update(members)
    return module


def mel(*, sr, n_fft, n_mels=128, **kwargs):
    return sr, n_fft, n_mels, kwargs


BY_PLACE = [
    ("m.mel(16000, 512)", (16000, 512, 128, {})),
    ("m.mel(16000, 512, 40)", (16000, 512, 40, {})),
    ("m.mel(16000, n_fft=512, htk=True)", (16000, 512, 128, {"htk": True})),
]


@pytest.mark.parametrize(("expression", "value"), BY_PLACE, ids=[one for one, _ in BY_PLACE])
def test_arguments_are_given_by_place(keeper, expression, value):
    module = module_of("librosa.filters", mel=mel)
    old_calls.teach(keeper, module)
    assert ask(expression, OWN, m=module) == value
    assert keeper.lent == {"librosa.filters.mel as it was": None}
    with pytest.raises(TypeError, match="positional"):
        ask(expression, FOREIGN, m=module)


@pytest.mark.parametrize("expression", ["m.mel(1, 2, 3, 4)", "m.mel(1, 2, sr=3)", "m.mel(sr=1)"])
def test_what_was_always_wrong_stays_so(keeper, expression):
    module = module_of("librosa.filters", mel=mel)
    old_calls.teach(keeper, module)
    with pytest.raises(TypeError):
        ask(expression, OWN, m=module)
    assert not keeper.lent


def test_methods_of_classes_are_called_by_place(keeper):
    class DataFrame:
        def drop(self, labels=None, *, axis=0):
            return labels, axis

    module = module_of("pandas", DataFrame=DataFrame)
    old_calls.teach(keeper, module)
    assert ask("t.drop('a', 1)", OWN, t=DataFrame()) == ("a", 1)
    with pytest.raises(TypeError):
        ask("t.drop('a', 1)", FOREIGN, t=DataFrame())


def test_texts_are_turned_by_numbers_in_letters(keeper):
    def xticks(*args, rotation=0):
        if isinstance(rotation, str) and rotation != "vertical":
            raise ValueError(f"rotation must be 'vertical' or a number, not {rotation!r}")
        return args, rotation

    module = module_of("matplotlib.pyplot", xticks=xticks)
    old_calls.teach(keeper, module)
    assert ask("m.xticks([1], rotation='40')", OWN, m=module) == (([1],), 40.0)
    assert ask("m.xticks(rotation='vertical')", OWN, m=module) == ((), "vertical")
    for expression, file in [("m.xticks(rotation='askew')", OWN), ("m.xticks(rotation='40')", FOREIGN)]:
        with pytest.raises(ValueError, match="rotation must be"):
            ask(expression, file, m=module)


def test_arguments_have_their_old_names(keeper):
    module = module_of("matplotlib.pyplot", hist=lambda x, density=False: (x, density))
    old_calls.teach(keeper, module)
    assert ask("m.hist([1], normed=True)", OWN, m=module) == ([1], True)
    with pytest.raises(TypeError):
        ask("m.hist([1], other=True)", OWN, m=module)


def test_styles_have_their_old_names(keeper):
    def use(style):
        if style != "seaborn-v0_8-white":
            raise OSError(style)
        return style

    module = module_of("matplotlib.style", use=use)
    old_calls.teach(keeper, module)
    assert ask("m.use('seaborn-white')", OWN, m=module) == "seaborn-v0_8-white"
    with pytest.raises(OSError, match="none"):
        ask("m.use('none')", OWN, m=module)


def test_yaml_needs_no_loader(keeper, monkeypatch):
    module = module_of("yaml", load=lambda stream, Loader: (stream, Loader), FullLoader="full")
    monkeypatch.setitem(sys.modules, "yaml", module)
    old_calls.teach(keeper, module)
    assert ask("m.load('a: 1')", OWN, m=module) == ("a: 1", "full")


def test_samples_of_sets(keeper, monkeypatch):
    monkeypatch.setattr(random, "sample", random.sample)
    old_calls.teach(keeper, random)
    assert sorted(ask("random.sample({3, 4}, 2)", OWN, random=random)) == [3, 4]
    assert random.sample([5], 1) == [5]


SPLITS = [
    (r"re.split(r'(\W+)?', 'Bob went. ')", ["Bob", " ", "went", ". ", ""]),
    ("re.split('x*', 'axbc')", ["a", "bc"]),
    (r"re.split(r'\s', 'a b')", ["a", "b"]),
    (r"re.split('x*', 'axb', maxsplit=1)", re.split("x*", "axb", maxsplit=1)),
    ("re.split('B*', 'abc', flags=re.I)", ["a", "c"]),
]


@pytest.mark.parametrize(("expression", "value"), SPLITS, ids=[one for one, _ in SPLITS])
def test_nothing_is_no_place_to_split(keeper, monkeypatch, expression, value):
    monkeypatch.setattr(re, "split", re.split)
    today = ask(expression, FOREIGN, re=re)
    old_calls.teach_results(keeper, re)
    assert ask(expression, OWN, re=re) == value
    assert ask(expression, FOREIGN, re=re) == today


def test_functions_a_release_does_not_have_are_left_out(keeper):
    for name in old_calls.THEN:
        old_calls.teach(keeper, types.ModuleType(name))


def test_what_is_no_text_is_read_as_bytes(keeper, tmp_path):
    (tmp_path / "picture.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "text").write_bytes(b"text")
    kind = type("GFile", (files.GFile,), {"read": files.GFile.read})
    old_calls.teach(keeper, module_of("ebbflow.platform.files", GFile=kind))
    scope = {"GFile": kind, "place": str(tmp_path)}
    assert ask("GFile(place + '/picture.jpg', 'r').read()", OWN, **scope) == b"\xff\xd8\xff"
    assert ask("GFile(place + '/text', 'r').read()", OWN, **scope) == "text"
    with pytest.raises(UnicodeDecodeError):
        ask("GFile(place + '/picture.jpg', 'r').read()", FOREIGN, **scope)
