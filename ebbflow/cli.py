"""The `ebbflow` command: run a program or a model, launch one in several processes, show and convert models,
say what is installed, tell the version.

Knows the arguments; the work is in `doors`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ebbflow.api import versions

MODEL_COMMANDS = ("show", "convert")
RUN_USAGE = "ebbflow run [--tf {auto,1,2}] [--keras {2,3}] [--verbose] (script.py | -m module | -c code | -) [args ...]"

RUN_HELP = f"""usage: {RUN_USAGE}

Run a TensorFlow program as python would, with Ebbflow as its `tensorflow`.

what to run (everything after it is the program's own):
  script.py            a file, or a directory with a __main__.py
  -m module            a module, found as python finds it
  -c code              code given here
  -                    code from standard input
  model/               a SavedModel: one of its signatures is run (ebbflow run model/ --help)

options:
  --tf {{auto,1,2}}      which TensorFlow the program was written for (default: auto, read from its source)
  --keras {{2,3}}        which Keras it was written for (default: Keras 2 for programs of TF 1 and of its years, else 3;
                       TF_USE_LEGACY_KERAS=1 or 0 in the environment says so too)
  -v, --verbose        say on standard error which era was taken, and why
  -h, --help           show this and exit

EBBFLOW_FULL_TRACEBACK=1 in the environment shows Ebbflow's own lines in tracebacks.
"""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Do what the command line says, and exit as the program run would."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["run"]:
        run(words[1:])
    options = parser(words[:1]).parse_args(words)
    if options.command in MODEL_COMMANDS:
        from ebbflow.doors import models  # only who looks at models needs these rooms

        sys.exit(models.serve(options))
    if options.command == "launch":
        from ebbflow.doors.launch import launch  # only programs of several processes need it

        sys.exit(launch(options))
    if options.command == "simulate":
        from ebbflow.doors import simulate  # only who asks for it

        sys.exit(simulate.serve(options))
    if options.command == "doctor":
        from ebbflow.doors.doctor import examine  # asks every engine: only when wanted

        sys.exit(examine())
    if options.command == "version" or options.version:
        print(f"ebbflow {versions.EBBFLOW} (TensorFlow {versions.V2} and {versions.V1} programs)")
        sys.exit(0)
    parser().print_help()
    sys.exit(2)


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of everything but `run`, whose arguments belong to the program; `words` say what is wanted."""
    top = argparse.ArgumentParser(
        prog="ebbflow", description="The TensorFlow programming model, written again. Tensors flow, gradients ebb."
    )
    top.add_argument("--version", action="store_true", help="tell the version and exit")
    commands = top.add_subparsers(dest="command", metavar="command")
    commands.add_parser("run", help="run a TensorFlow program, old or new, as it is", add_help=False, usage=RUN_USAGE)
    if words and words[0] in MODEL_COMMANDS:
        from ebbflow.doors import models

        models.add_parsers(commands)
    else:
        commands.add_parser("show", help="say what is in a SavedModel, a graph or a checkpoint", add_help=False)
        commands.add_parser("convert", help="write a SavedModel as a frozen graph or as arrays", add_help=False)
    starts = commands.add_parser("launch", help="run a program as several processes, and watch them")
    if words and words[0] == "launch":
        from ebbflow.doors.launch import add_arguments

        add_arguments(starts)
    guess = commands.add_parser("simulate", help="say what a job of 1 to 10,000 workers would do, by what parts cost")
    if words and words[0] == "simulate":
        from ebbflow.doors.simulate import add_arguments as add_costs

        add_costs(guess)
    commands.add_parser("doctor", help="say what is installed, which engines serve, and what is missing")
    commands.add_parser("version", help="tell the version")
    return top


def run(words: list[str]) -> NoReturn:
    """Run the program that the words after `ebbflow run` name."""
    tf, verbose, keras = "auto", False, None
    while words:
        word = words.pop(0)
        if word in ("-h", "--help"):
            print(RUN_HELP, end="")
            sys.exit(0)
        elif word in ("-v", "--verbose"):
            verbose = True
        elif word == "--tf" or word.startswith("--tf="):
            tf = word.partition("=")[2] or (words.pop(0) if words else "")
            if tf not in ("auto", "1", "2"):
                refuse(f"--tf is auto, 1 or 2, not {tf!r}")
        elif word == "--keras" or word.startswith("--keras="):
            wish = word.partition("=")[2] or (words.pop(0) if words else "")
            if wish not in ("2", "3"):
                refuse(f"--keras is 2 or 3, not {wish!r}")
            keras = int(wish)
        elif word in ("-m", "-c"):
            if not words:
                refuse(f"{word} needs an argument")
            start({"-m": "module", "-c": "code"}[word], words.pop(0), words, tf, verbose, keras)
        elif word == "-":
            start("stdin", "-", words, tf, verbose, keras)
        elif word.startswith("-"):
            refuse(f"unknown option {word}; options of the program come after its name")
        else:
            run_model_if_it_is_one([word, *words])
            start("script", word, words, tf, verbose, keras)
    refuse("nothing to run: give a script, -m module, -c code, or -")


def run_model_if_it_is_one(words: list[str]) -> None:
    """Run a signature of a SavedModel, where the first word names the folder of one."""
    if os.path.isdir(words[0]) and any(os.path.exists(f"{words[0]}/saved_model.{kind}") for kind in ("pb", "pbtxt")):
        from ebbflow.doors import models

        sys.exit(models.run_model(words))


def refuse(why: str) -> NoReturn:
    """Say what is wrong with a command line."""
    print(f"usage: {RUN_USAGE}\nebbflow run: {why}", file=sys.stderr)
    sys.exit(2)


def start(kind: str, name: str, args: list[str], tf: str, verbose: bool, keras: int | None = None) -> NoReturn:
    """Run a program and exit as it does; its errors pass through."""
    from ebbflow.doors.run import StartError  # only a program that is run needs these rooms
    from ebbflow.doors.run import run as run_program
    from ebbflow.doors.task_process import stay_with_supervisor

    stay_with_supervisor()
    try:
        run_program(kind, name, args, tf, verbose, keras)
    except StartError as error:
        print(error, file=sys.stderr)
        sys.exit(2 if kind == "script" else 1)
    sys.exit(0)
