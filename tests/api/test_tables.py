"""The tables: well formed, without contradictions, and every name of theirs resolves."""

import collections
import os
import pkgutil

import pytest

import ebbflow
from ebbflow.api import namespace, views
from ebbflow.api.tables import FAMILIES, contrib, first_door, inside, inside_functions, message_paths, paths

ERAS = ("BOTH", "V1", "V2")
VIEWS = (*views.DOORS, "v1" + views.INSIDE, "v2" + views.INSIDE)


def rows(era):
    return [(name, target) for family in FAMILIES for name, target in views.parse(getattr(family, era, ""))]


@pytest.mark.parametrize("era", ERAS)
def test_a_name_stands_in_one_row(era):
    twice = [name for name, count in collections.Counter(name for name, _ in rows(era)).items() if count > 1]
    assert twice == []


@pytest.mark.parametrize("era", ["V1", "V2"])
def test_an_era_does_not_contradict_what_both_say(era):
    both = dict(rows("BOTH"))
    assert [name for name, _ in rows(era) if name in both] == []


def test_names_and_targets_are_well_formed():
    for era in ERAS:
        for name, target in rows(era):
            assert all(part.isidentifier() for part in name.split(".")), name
            room, _, attribute = target.partition(":")
            assert room and attribute.isidentifier() and all(part.isidentifier() for part in room.split(".")), target


def test_no_name_is_both_a_thing_and_a_namespace():
    for key in VIEWS:
        shown = views.view(key)
        assert [name for name in shown.names if name in shown.spaces] == []


def test_paths_lead_to_names_that_exist():
    first, second = views.tables_of("BOTH") | views.tables_of("V1"), views.tables_of("V2")
    for table in (paths.PYTHON, contrib.PATHS):
        for path, words in table.items():
            for word in words.split():
                here, _, there = word.partition("=")
                name, _, era = (there or here).partition("@")
                assert name in (second if era else first | second), f"{path}: {word}"


@pytest.mark.parametrize("table", [paths.MIRRORS, paths.INNER_MIRRORS, paths.UNIONS, contrib.MIRRORS])
def test_mirrors_show_something(table):
    everything = [*views.view("v1").names, *views.view("v1" + views.INSIDE).names]
    for copy in table:
        assert any(name.startswith(copy + ".") for name in everything), copy


@pytest.mark.parametrize("key", VIEWS)
def test_every_name_resolves(key):
    missing = {}
    for name, target in views.view(key).names.items():
        if target.startswith(views.OTHER_PACKAGES):  # would bring `tensorflow` along: tests/doors/test_alias.py
            continue
        try:
            namespace.resolve(target)
        except (ImportError, AttributeError) as error:
            missing[name] = f"{target}: {error}"
    for name, why in missing.items():
        print(f"tf.{name} -> {why}")
    assert not missing, f"{len(missing)} names of {key} do not resolve, first {list(missing.items())[:5]}"


def test_contrib_and_names_before_one_are_at_the_first_door_only():
    old = {name.split(".")[0] for name, _ in views.parse(first_door.NAMES)} - set(views.view("compat.v1").spaces[""])
    assert "mul" in old
    for key in ("v2", "compat.v1"):
        top = views.view(key).spaces[""]
        assert "contrib" not in top and not old & set(top)
    assert "contrib" in views.view("v1").spaces[""]


def test_no_room_has_the_name_of_a_public_function():
    """Importing such a room would put the module in the function's place on the package."""
    rooms = {module.name for module in pkgutil.iter_modules(ebbflow.__path__)}
    top = views.view("v2").spaces[""]
    assert [room for room in rooms if top.get(room) is not None] == []


@pytest.mark.parametrize(
    "name",
    """
    Session placeholder Variable constant reshape concat reduce_mean cast shape nn.relu zeros matmul transpose
    expand_dims stack squeeze equal argmax square ones maximum zeros_like where range abs gather split Graph identity
    sqrt tile exp ones_like add minimum multiply app.run flags.FLAGS gfile.GFile logging.info errors.NotFoundError
    """.split(),  # noqa: SIM905
)
def test_the_head_of_the_census_is_there(name):
    assert name in views.view("v1").names


def test_tables_are_small_enough_to_read():
    for family in (*FAMILIES, paths, inside, inside_functions, message_paths, contrib, first_door):
        with open(family.__file__, encoding="utf-8") as file:
            assert sum(1 for _ in file) < 600, os.path.basename(family.__file__)
