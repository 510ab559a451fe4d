"""Record what TensorFlow gives for the expressions of `tests/golden/ragged/cases.py`.

/path/to/tf-2.21/python tools/record/ragged.py
"""

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("ragged/*.json",)
GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "ragged"
spec = importlib.util.spec_from_file_location("cases", str(GOLDEN / "cases.py"))
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


def main():
    """Write the golden file: by expression, what it gives eagerly."""
    found = {}
    for family, expressions in cases.FAMILIES.items():
        found[family] = {text: cases.evaluate(tf, text) for text in expressions}
    (GOLDEN / "tf-2.21.json").write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
