"""The book of programs: how a program is entered, how its graph is described, how recordings are kept.

Knows only what every `tf` has in public. The judges are named by what was asked of them:

    1.15      TensorFlow 1.15, graphs by default       replayed through  import ebbflow.v1 as tf
    2.21      TensorFlow 2.21, `tf.compat.v1` in an explicit graph, or `tf` itself for eager programs
                                                       replayed through  import ebbflow as tf
    2.21-v1   TensorFlow 2.21 after `tf.compat.v1.disable_v2_behavior()`, replayed in a process of its own
"""

import functools
import json
import os

JUDGES = ("1.15", "2.21", "2.21-v1")

# How much of a graph is compared. TensorFlow builds conditionals out of Switch and Merge (1.15) or function bodies
# (2.21) and Ebbflow out of its own; what stands inside `gradients/` has a book of its own, and how repeated rows of a
# sparse gradient are summed inside `update_...` belongs to the optimizer; what a loss or a metric checks on its way is
# nobody's business but its result is.
EVERYTHING = "all"
OUTSIDE_GRADIENTS = "outside gradients"
OUTSIDE_UPDATES = "outside gradients and updates"
OUTSIDE_CONDITIONALS = "outside conditionals"
FACTS_ONLY = "facts only"
_LEFT_OUT = {
    EVERYTHING: (),
    OUTSIDE_GRADIENTS: ("gradients",),
    OUTSIDE_UPDATES: ("gradients", "update"),
    OUTSIDE_CONDITIONALS: ("AssertGuard", "cond"),
}


def is_compared(policy, name):
    """Whether a node of this name takes part in the comparison."""
    if policy == FACTS_ONLY:
        return False
    parts = name.split("/")
    return not any(part == left or part.startswith(left + "_") for left in _LEFT_OUT[policy] for part in parts)


HERE = os.path.dirname(os.path.abspath(__file__))


class Program:
    """One entry of a book: a function of `tf`, its name, which judges hear it, and facts for the replay."""

    def __init__(self, name, function, judges, facts):
        self.name = name
        self.function = function
        self.judges = judges
        self.facts = facts

    def __call__(self, *args):
        return self.function(*args)


class Book:
    """An ordered set of programs; `@book.program(...)` enters one under its function's name."""

    def __init__(self, judges=JUDGES):
        self.judges = tuple(judges)
        self.programs = {}

    def program(self, judges=None, **facts):
        def enter(function):
            self.add(function.__name__, function, judges, **facts)
            return function

        return enter

    def add(self, name, function, judges=None, **facts):
        if name in self.programs:
            raise ValueError("two programs are called " + name)
        self.programs[name] = Program(name, function, tuple(judges or self.judges), facts)

    def include(self, other):
        for program in other:
            if program.name in self.programs:
                raise ValueError("two programs are called " + program.name)
            self.programs[program.name] = program

    def __iter__(self):
        return iter(self.programs.values())

    def __getitem__(self, name):
        return self.programs[name]

    def heard_by(self, judge):
        return [program for program in self if judge in program.judges]


def graph_module(tf, judge):
    """The namespace graph programs are written against: TensorFlow 1's, wherever it lives."""
    return tf if judge == "1.15" else tf.compat.v1


def shape_text(shape):
    """A static shape in short: `[2,?]`, or `?` when not even the rank is known."""
    if shape.rank is None:
        return "?"
    return "[{}]".format(",".join("?" if d is None else str(int(d)) for d in shape.as_list()))


def input_text(policy, tensor):
    if not is_compared(policy, tensor.op.name):
        return "*"
    return tensor.name[:-2] if tensor.name.endswith(":0") else tensor.name


def describe_tensor(tensor):
    return tensor.dtype.name + shape_text(tensor.shape)


def describe_node(op, policy=EVERYTHING):
    """One node as six words: name, type, inputs, control inputs, device, outputs; `-` where there is nothing."""
    words = [
        op.name,
        op.type,
        ",".join(input_text(policy, tensor) for tensor in op.inputs),
        ",".join(sorted(control.name for control in op.control_inputs if is_compared(policy, control.name))),
        op.device,
        ";".join(describe_tensor(tensor) for tensor in op.outputs),
    ]
    return " ".join(word or "-" for word in words)


def describe_collections(graph, policy):
    """Collection key -> names of its members, for the keys that are strings and the members that have names."""
    described = {}
    for key in graph.get_all_collection_keys():
        if isinstance(key, str) and key not in ("cond_context", "while_context"):
            names = [member.name for member in graph.get_collection(key) if hasattr(member, "name")]
            names = [name if policy == FACTS_ONLY or is_compared(policy, name) else "*" for name in names]
            if names:
                described[key] = names
    return described


def describe_graph(graph, policy, facts):
    """Nodes (those compared), collections, facts: a graph as the recordings keep it."""
    return {
        "compare": policy,
        "nodes": [describe_node(op, policy) for op in graph.get_operations() if is_compared(policy, op.name)],
        "collections": describe_collections(graph, policy),
        "facts": facts,
    }


def describe_attrs(graph_def):
    """Node name -> attr name -> the attr's value as text. Inputs and devices are told by the node lines.

    Of the attrs that TensorFlow adds for itself (`_...`) only colocation (`_class`) means something to others.
    """
    described = {}
    for node in graph_def.node:
        keys = [key for key in sorted(node.attr) if key == "_class" or not key.startswith("_")]
        described[node.name] = {key: message_text(node.attr[key]) for key in keys}
    return described


def message_text(message):
    """A message in one line that is the same under every release of protobuf: set fields, in order, maps sorted."""
    words = []
    for field, value in message.ListFields():
        if hasattr(value, "keys"):
            words += [f"{field.name}[{key}]:{field_text(field, value[key])}" for key in sorted(value)]
        elif hasattr(value, "ListFields") or isinstance(value, (str, bytes, int, float)):
            words.append(f"{field.name}:{field_text(field, value)}")
        else:
            words.append("{}:[{}]".format(field.name, " ".join(field_text(field, item) for item in value)))
    return "{{{}}}".format(" ".join(words))


def field_text(field, value):
    if hasattr(value, "ListFields"):
        return message_text(value)
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    return repr(value)


def plain(value):
    """Numbers, names and truths as JSON holds them: tensors and arrays become lists, bytes become text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    return plain(value.tolist()) if hasattr(value, "tolist") else value


def recording_path(subject, judge, suffix="json"):
    return os.path.join(HERE, "recorded", f"{subject}-{judge}.{suffix}")


def write_recording(subject, judge, recording):
    """One program a line, so that a change in one shows as one changed line.

    A later judge that says what an earlier one said is written down as {"as": earlier}.
    """
    lines = []
    for name, value in recording.items():
        for earlier in JUDGES[: JUDGES.index(judge)]:
            if os.path.exists(recording_path(subject, earlier)) and read_recording(subject, earlier).get(name) == value:
                value = {"as": earlier}
                break
        lines.append(json.dumps(name) + ": " + json.dumps(value, sort_keys=True, separators=(",", ":")))
    os.makedirs(os.path.join(HERE, "recorded"), exist_ok=True)
    with open(recording_path(subject, judge), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


@functools.lru_cache(maxsize=None)
def read_recording(subject, judge):
    """What a judge said, program by program."""
    with open(recording_path(subject, judge)) as file:
        recording = json.load(file)
    for name, value in recording.items():
        if isinstance(value, dict) and set(value) == {"as"}:
            recording[name] = read_recording(subject, value["as"])[name]
    return recording
