"""Rules of which exports are kept, and folders of them."""

import pytest

from ebbflow.savedmodel import kept_exports as kept


def numbers(rule, *given):
    return [path.export_version for path in rule([kept.Path("/foo", n) for n in given])]


@pytest.mark.parametrize(
    "rule, given, wanted",
    [
        (kept.largest_export_versions(2), (8, 10, 9), [9, 10]),
        (kept.largest_export_versions(2), (0, 3), [0, 3]),
        (kept.mod_export_version(3), (4, 5, 6, 9), [6, 9]),
        (kept.one_of_every_n_export_versions(3), (0, 1, 3, 5, 6, 7, 8, 33), [3, 6, 8, 33]),
        (kept.one_of_every_n_export_versions(3), (0, 4, 5), [0, 5]),
        (kept.union(kept.largest_export_versions(3), kept.mod_export_version(3)), range(10), [0, 3, 6, 7, 8, 9]),
        (kept.negation(kept.mod_export_version(2)), (4, 5, 6, 9), [5, 9]),
    ],
)
def test_rules(rule, given, wanted):
    assert numbers(rule, *given) == wanted


@pytest.mark.parametrize("base", [str, lambda path: str(path).encode()])
def test_folders_called_by_numbers(tmp_path, base):
    for name in ("2", "10", "ignore"):
        (tmp_path / name).mkdir()
    assert kept.numbered(base(tmp_path)) == [(str(tmp_path / "2"), 2), (str(tmp_path / "10"), 10)]
