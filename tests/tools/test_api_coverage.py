"""The census tool: symbols are looked for at the doors of their era."""

from __future__ import annotations

import importlib.util
import pathlib

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "api_coverage.py"
CENSUS = """symbol,repos,uses,era
tf.Session,3,30,v1
tf.nn.relu,2,20,both
tf.contrib,1,10,v2
tf.nn.no_such_name,2,5,both
tf.contrib.rnn.LSTMCell,1,1,v1
"""


def load():
    spec = importlib.util.spec_from_file_location("api_coverage", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shares_and_missing_names(tmp_path, capsys):
    tool = load()
    (tmp_path / "census.csv").write_text(CENSUS)
    symbols = tool.read(str(tmp_path / "census.csv"))
    tool.report(symbols, most=5)
    lines = capsys.readouterr().out.splitlines()
    everything = next(line for line in lines if line.startswith("all "))
    assert everything.split() == ["all", "5", "60.0%", "66.7%", "77.3%"]
    assert [line for line in lines if line.startswith("missing")] == [
        "missing: tf.nn.no_such_name (2 repositories, 5 uses, both)",
        "missing: tf.contrib (1 repositories, 10 uses, v2)",
    ]


def test_areas():
    tool = load()
    areas = [tool.Symbol(name, 1, 1, "v1").area for name in ("tf.Session", "tf.nn.relu", "tf.contrib.rnn.LSTMCell")]
    assert areas == ["tf", "tf.nn", "tf.contrib.rnn"]
