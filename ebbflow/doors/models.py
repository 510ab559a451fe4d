"""`ebbflow show`, `ebbflow convert`, and `ebbflow run` of a SavedModel: models at the command line.

The options are those of saved_model_cli where it has them. Knows the arguments; the work is in `savedmodel`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.functions.convert_to_constants import convert_variables_to_constants
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_def import write_graph
from ebbflow.graph.scope_names import node_name
from ebbflow.io import array_files
from ebbflow.io.bundle import BundleReader
from ebbflow.runtime.session import Session
from ebbflow.savedmodel import constants, loader, reading, show
from ebbflow.savedmodel.python_code import python_code
from ebbflow.savedmodel.signature_defs import get_signature_def_by_key

WEIGHTS = array_files.ENDINGS


def is_model(path: str) -> bool:
    """Return whether a folder holds a SavedModel: then `ebbflow run` runs a signature of it."""
    return os.path.isdir(path) and reading.contains_saved_model(path)


def add_parsers(commands: Any) -> None:
    """Add the commands of this module to the command line."""
    showing = commands.add_parser(
        "show", help="say what is in a SavedModel, a graph (.pb, .pbtxt, .meta) or a checkpoint"
    )
    showing.add_argument("path", help="a folder, a file, or the prefix of a checkpoint")
    _add_choice(showing)
    showing.add_argument("--all", action="store_true", help="show every graph, signature and function")
    showing.add_argument("--python", action="store_true", help="print a program that builds the graph")
    converting = commands.add_parser("convert", help="write a SavedModel as a frozen graph or as arrays")
    converting.add_argument("path", help="the folder of a SavedModel")
    converting.add_argument("out", help="OUT.pb or OUT.pbtxt: a frozen graph; OUT.npz or OUT.safetensors: variables")
    _add_choice(converting)
    converting.add_argument(
        "--allow", action="append", default=[], metavar="OP", help="an op that does more than compute"
    )


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tag_set", "--tag-set", help="the graph's tags, joined by commas")
    parser.add_argument("--signature_def", "--signature-def", metavar="KEY", help="the signature")


def serve(options: argparse.Namespace) -> int:
    """Do what `ebbflow show` or `ebbflow convert` asks for; return the exit code."""
    try:
        if options.command == "show":
            print("\n".join(_shown(options)))
        else:
            _convert(options)
    except (errors.OpError, OSError, ValueError, RuntimeError, TypeError) as error:
        print(f"ebbflow {options.command}: {getattr(error, 'message', error)}", file=sys.stderr)
        return 1
    return 0


# --- show -------------------------------------------------------------------------------------------------------------


def _shown(options: argparse.Namespace) -> list[str]:
    path = options.path
    if is_model(path):
        if options.python:
            meta = reading.meta_graph_of(path, options.tag_set or _only_tags(path))
            return [python_code(meta.graph_def, path)]
        return list(show.show_saved_model(path, options.tag_set, options.signature_def, options.all))
    if os.path.exists(path + ".index"):
        reader = BundleReader(path)
        return [f"{name} {reader.dtype_of(name).name} {list(reader.shape_of(name))}" for name in sorted(reader.names)]
    if not os.path.isfile(path):
        raise OSError(f"{path}: neither a SavedModel, nor a graph, nor a checkpoint")
    graph_def = show.read_graph(path)
    return [python_code(graph_def, path)] if options.python else list(show.show_graph(graph_def, path))


def _only_tags(path: str) -> str:
    sets = reading.get_saved_model_tag_sets(path)
    if len(sets) != 1 and [constants.SERVING] not in sets:
        raise ValueError(f"{path} has several graphs: say which with --tag_set; there are {sets}")
    return ",".join(sets[0] if len(sets) == 1 else [constants.SERVING])


# --- convert ----------------------------------------------------------------------------------------------------------


def _convert(options: argparse.Namespace) -> None:
    out = options.out
    if not out.endswith((".pb", ".pbtxt", *WEIGHTS)):
        raise ValueError(f"a model is written as .pb, .pbtxt, {' or '.join(WEIGHTS)}, not as {out}")
    tags = (options.tag_set or _only_tags(options.path)).split(",")
    graph = Graph()
    with graph.as_default(), Session(graph=graph) as session:
        meta = loader.load(session, tags, options.path, allow=options.allow)
        if out.endswith(WEIGHTS):
            array_files.write_arrays(out, _variables(session, graph))
            return
        signature = get_signature_def_by_key(meta, options.signature_def or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY)
        ends = sorted({node_name(info.name) for info in signature.outputs.values()})
        frozen = convert_variables_to_constants(session, graph.as_graph_def(), ends)
    write_graph(frozen, os.path.dirname(out) or ".", os.path.basename(out), as_text=out.endswith(".pbtxt"))


def _variables(session: Any, graph: Any) -> dict[str, Any]:
    """Return the values of a graph's variables by name, whichever kind they are."""
    held = [n for n in graph.get_operations() if n._op.facts.variable]
    values = session.run([n.outputs[0] for n in held])
    return {n.name: v.read() if hasattr(v, "read") else v for n, v in zip(held, values, strict=True)}


# --- run --------------------------------------------------------------------------------------------------------------


def run_model(words: Sequence[str]) -> int:
    """Run a signature of a SavedModel on arrays from files or expressions; print the results, or write them."""
    parser = argparse.ArgumentParser(prog="ebbflow run", description="Run a signature of a SavedModel.")
    parser.add_argument("path")
    _add_choice(parser)
    parser.add_argument("--inputs", default="", help="x=FILE.npy;y=FILE.npz[name]")
    parser.add_argument("--input_exprs", "--input-exprs", default="", help="x=np.ones((2, 3));y=[1, 2]")
    parser.add_argument("--input_examples", "--input-examples", default="", help='x=[{"age": [22]}]')
    parser.add_argument("--outdir", help="write every result to OUTDIR/NAME.npy")
    parser.add_argument("--overwrite", action="store_true")
    parser.add_argument("--allow", action="append", default=[], metavar="OP", help="an op that does more than compute")
    options = parser.parse_args(words)
    try:
        _tell(_results(options), options)
    except (errors.OpError, OSError, ValueError, RuntimeError, TypeError) as error:
        print(f"ebbflow run: {getattr(error, 'message', error)}", file=sys.stderr)
        return 1
    return 0


def _results(options: argparse.Namespace) -> dict[str, Any]:
    given = {**_from_files(options.inputs), **_from_text(options.input_exprs), **_examples(options.input_examples)}
    tags = (options.tag_set or _only_tags(options.path)).split(",")
    graph = Graph()
    with graph.as_default(), Session(graph=graph) as session:
        meta = loader.load(session, tags, options.path, allow=options.allow)
        signature = get_signature_def_by_key(meta, options.signature_def or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY)
        missing, unknown = sorted(set(signature.inputs) - set(given)), sorted(set(given) - set(signature.inputs))
        if missing or unknown:
            raise ValueError(f"the signature takes {sorted(signature.inputs)}: missing {missing}, unknown {unknown}")
        feeds = {signature.inputs[name].name: value for name, value in given.items()}
        return session.run({name: info.name for name, info in sorted(signature.outputs.items())}, feeds)


def _parts(text: str) -> list[tuple[str, str]]:
    found = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"an input is NAME=VALUE, not {part!r}")
        found.append((name.strip(), value.strip()))
    return found


def _from_files(text: str) -> dict[str, Any]:
    found = {}
    for name, value in _parts(text):
        path, _, key = re.fullmatch(r"(.+?)(\[(.+)\])?", value).groups()  # type: ignore[union-attr]
        data = np.load(path, allow_pickle=False)
        if hasattr(data, "files"):
            if key is None and len(data.files) != 1:
                raise ValueError(f"{path} has several arrays: say which, {path}[{data.files[0]}]")
            data = data[key or data.files[0]]
        found[name] = data
    return found


def _from_text(text: str) -> dict[str, Any]:
    """Return the values of expressions: literals, or calls of NumPy's functions as the user typed them."""
    found: dict[str, Any] = {}
    for name, value in _parts(text):
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = _evaluated(name, value)
    return found


def _evaluated(name: str, value: str) -> Any:
    try:
        return eval(value, {"__builtins__": {}, "np": np, "numpy": np})
    except Exception as error:
        raise ValueError(f"input {name!r}: {value!r} is no literal and no call of NumPy's: {error}") from None


def _examples(text: str) -> dict[str, Any]:
    """Return serialised Examples, from lists of dicts of features."""
    found = {}
    for name, value in _parts(text):
        try:
            rows = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            rows = json.loads(value)
        found[name] = [_example(row).SerializeToString() for row in rows]
    return found


def _example(row: dict[str, Any]) -> Any:
    example = messages.Example()
    for name, values in row.items():
        feature = example.features.feature[name]
        values = values if isinstance(values, (list, tuple)) else [values]
        if any(isinstance(v, (str, bytes)) for v in values):
            feature.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        elif any(isinstance(v, float) for v in values):
            feature.float_list.value.extend(values)
        else:
            feature.int64_list.value.extend(values)
    return example


def _tell(results: dict[str, Any], options: argparse.Namespace) -> None:
    for name, value in results.items():
        if options.outdir is None:
            print(f"Result for output key {name}:\n{value}")
            continue
        os.makedirs(options.outdir, exist_ok=True)
        path = os.path.join(options.outdir, f"{name}.npy")
        if os.path.exists(path) and not options.overwrite:
            raise OSError(f"Output file {path} already exists. Add --overwrite to overwrite the existing output files.")
        np.save(path, value, allow_pickle=False)
        print(f"Output {name} is saved to {path}")
