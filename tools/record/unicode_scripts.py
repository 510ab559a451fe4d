"""Write `ebbflow/ops/strings/scripts.txt`: the script of every character, as TensorFlow 2.21 (ICU) tells it.

    python tools/record/unicode_scripts.py

Run it in an environment that has TensorFlow. A line is the first code point of a range (hexadecimal) and the number
that ISO 15924 scripts have in ICU.
"""

from __future__ import annotations

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

TARGET = pathlib.Path(__file__).resolve().parent.parent.parent / "ebbflow" / "ops" / "strings" / "scripts.txt"


def main() -> None:
    scripts = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
    starts = np.flatnonzero(np.concatenate([[True], scripts[1:] != scripts[:-1]]))
    rows = [f"{start:x} {scripts[start]}" for start in starts.tolist()]
    head = "# The script of each range of characters (tools/record/unicode_scripts.py): first code point, ICU's number."
    TARGET.write_text("\n".join([head, *rows]) + "\n")
    print(f"{len(rows)} ranges, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
