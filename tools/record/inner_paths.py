"""Record where TensorFlow's inside holds which public object: `python.ops.math_ops.reduce_sum_v1` is v1's `reduce_sum`.

    TENSORFLOW_2/python tools/record/inner_paths.py 2 two.json         # in an environment with TensorFlow 2
    TENSORFLOW_1/python tools/record/inner_paths.py 1 one.json         # and in one with TensorFlow 1.15
    python tools/inner_paths.py one.json two.json                      # writes ebbflow/api/tables/inner_paths.txt

Writes {module: {name: [public names]}} for every module below `tensorflow.python` and `tensorflow.contrib.*.python`. A
public name of TF 2 has `@2` behind it; a module that shows generated functions of ops has the name `gen`. Runs on
Python 3.7 too.
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys
import types

import tensorflow as tf

LEFT_OUT = ("keras", "python", "tools", "lite", "estimator", "core", "raw_ops", "_api")
BY_ACCIDENT = ("contrib.quantization.", "contrib.tensor_forest.", "pywrap_tensorflow.")
"""Namespaces that show whatever their module had imported."""

HELPERS = ("tf_export", "deprecated_endpoints")

SKIPPED = (
    ".keras",
    ".tpu",
    "_test",
    ".test_data",
    ".parallel_for.test_util",
    ".python.ops.test_util",
    ".tools",
    ".lite",
    ".distribute",
    ".compiler",
    ".debug",
    ".profiler",
    ".grappler",
    "tensorflow.python.estimator",
    ".data.benchmarks",
    ".data.experimental.service",
    "pywrap",
    "_pywrap",
    ".contrib.cloud",
    ".contrib.tensorrt",
    ".contrib.bigtable",
    ".contrib.kafka",
    ".contrib.kinesis",
    ".contrib.ignite",
    ".contrib.hadoop",
    ".contrib.boosted_trees",
    ".contrib.fused_conv",
    ".contrib.ffmpeg",
    ".contrib.nccl",
    ".contrib.all_reduce",
    ".contrib.gan",
    ".contrib.remote_fused_graph",
    ".contrib.quantize",
)


def tells_itself_apart(value):
    """Return whether an object can be known by its identity: not a number, a text or another small thing."""
    if inspect.isfunction(value) or inspect.isclass(value) or inspect.isbuiltin(value):
        home = str(getattr(value, "__module__", ""))
        return home.startswith(("tensorflow", "google", "absl")) or "numpy_ops" in home
    return type(value).__name__ in ("DType", "partial", "_FlagValuesWrapper", "FlagValuesWrapper")


def public_names(root, mark, shown):
    """Add id -> public names of everything below a module."""
    seen, later = set(), [(root, "", 0)]
    while later:
        module, path, depth = later.pop(0)
        if id(module) in seen or depth > 6:
            continue
        seen.add(id(module))
        try:
            names = dir(module)
        except ImportError:  # loads itself lazily, and does not load
            continue
        for name in names:
            dotted = path + "." + name if path else name
            if name.startswith("_") or name in LEFT_OUT or dotted == "compat" or ".python" in dotted:
                continue
            try:
                value = getattr(module, name)
            except Exception:
                continue
            if isinstance(value, types.ModuleType):
                home = str(getattr(value, "__name__", ""))
                if ".contrib." not in "." + dotted or ".contrib." in home:
                    later.append((value, dotted, depth + 1))
            elif tells_itself_apart(value):
                shown.setdefault(id(value), []).append(dotted + mark)
    compat = getattr(root, "compat", None)
    for name in dir(compat) if compat is not None else ():
        if not name.startswith("_") and name not in ("v1", "v2"):
            value = getattr(compat, name)
            if tells_itself_apart(value):
                shown.setdefault(id(value), []).append("compat." + name + mark)


def modules(era):
    """Yield the names of all inner modules."""
    folder = os.path.dirname(importlib.import_module("tensorflow.python").__file__)
    roots = [(folder, "tensorflow.python.")]
    if era == "1":
        roots.append((os.path.join(os.path.dirname(folder), "contrib"), "tensorflow.contrib."))
    for root, prefix in roots:
        for found in pkgutil.walk_packages([root], prefix, onerror=lambda name: None):
            if not any(word in found.name for word in SKIPPED):
                yield found.name


def main(era, out):
    shown = {}
    if era == "1":
        importlib.import_module("tensorflow.contrib")
        public_names(tf.compat.v1, "", shown)
        public_names(tf, "", shown)
        public_names(tf.compat.v2, "@2", shown)
    else:
        public_names(tf.compat.v1, "", shown)
        public_names(tf, "@2", shown)
    table = {}
    for name in modules(era):
        try:
            module = importlib.import_module(name)
        except BaseException:
            continue
        rows = table.setdefault(name[len("tensorflow.") :], {})
        if ".gen_" in name:
            rows["gen"] = ["gen"]
            continue
        for word, value in sorted(vars(module).items()):
            if (
                word.startswith("_")
                or word in ("tf_export", "deprecated_endpoints")
                or isinstance(value, types.ModuleType)
            ):
                continue
            names = [text for text in shown.get(id(value), ()) if not text.startswith(BY_ACCIDENT)]
            if names:
                rows[word] = sorted(set(names), key=lambda text: (text.count("."), len(text), text))
            elif inspect.isfunction(value) and ".gen_" in value.__module__:
                rows["gen"] = ["gen"]  # took over a whole module of generated functions
    with open(out, "w") as file:
        json.dump(table, file, indent=0, sort_keys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
