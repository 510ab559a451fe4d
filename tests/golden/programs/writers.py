"""Programs that write summaries as TensorFlow 2 does: `tf.summary.create_file_writer` and what goes into the file.

Each program is a function of `tf` and a folder; what is recorded are the events of the files it leaves there, as text:
steps, tags, metadata and tensors. TensorFlow 1.15 has the same ops under `tf.contrib.summary`.
"""

import glob
import os
import tempfile

import numpy as np

from .book import Book, read_recording, write_recording

book = Book(judges=("2.21",))
V1_ONLY = ("1.15",)


def pictures(count=2, channels=3):
    return (np.arange(count * 4 * 5 * channels) % 251).astype(np.uint8).reshape(count, 4, 5, channels)


def clips(count=2):
    return np.sin(np.arange(count * 16, dtype=np.float32)).reshape(count, 16, 1)


WRITTEN = {
    "scalar": lambda tf: tf.summary.scalar("loss", 0.5, step=3),
    "scalar_integer": lambda tf: tf.summary.scalar("count", 7, step=1, description="how *many*"),
    "scalar_of_a_tensor": lambda tf: tf.summary.scalar(
        "t", tf.constant(2.5, tf.float64), step=tf.constant(9, tf.int64)
    ),
    "histogram": lambda tf: tf.summary.histogram("h", [1.0, 2.0, 2.5, 9.0], step=1),
    "histogram_of_one_value": lambda tf: tf.summary.histogram("h", [3.0, 3.0], step=1, buckets=4),
    "histogram_of_nothing": lambda tf: tf.summary.histogram("h", np.zeros(0, np.float32), step=1, buckets=2),
    "histogram_of_integers": lambda tf: tf.summary.histogram("h", [[1, 2], [3, 40]], step=1, buckets=3),
    "image_of_bytes": lambda tf: tf.summary.image("i", pictures(), step=1),
    "image_of_floats": lambda tf: tf.summary.image("i", pictures(1, 1).astype(np.float32) / 200, step=1),
    "image_limited": lambda tf: tf.summary.image("i", pictures(4), step=1, max_outputs=1, description="some"),
    "text": lambda tf: tf.summary.text("t", "*done*", step=2),
    "text_of_many": lambda tf: tf.summary.text("t", [["a", "b"], ["c", "d"]], step=2),
    "audio": lambda tf: tf.summary.audio("a", clips(), 8000, step=1),
    "audio_limited": lambda tf: tf.summary.audio("a", clips(3), 8000, step=1, max_outputs=2),
    "write": lambda tf: tf.summary.write("anything", [[1, 2]], step=4),
}


def writing(function):
    def program(tf, folder):
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default():
            wrote = function(tf)
        writer.close()
        return {"wrote": bool(wrote)}

    return program


for _name, _function in WRITTEN.items():
    book.add(_name, writing(_function))


@book.program()
def scopes(tf, folder):
    with tf.summary.create_file_writer(folder).as_default(step=5):
        with tf.name_scope("outer"):
            tf.summary.scalar("inner", 1.0)
            with tf.name_scope("deeper"):
                tf.summary.scalar("a/b", 2.0)
        with tf.summary.experimental.summary_scope("named", values=[1.0]) as (tag, scope):
            tags = [tag, scope]
    return {"tags": tags}


@book.program()
def steps(tf, folder):
    facts = [tf.summary.experimental.get_step()]
    with tf.summary.create_file_writer(folder).as_default():
        tf.summary.experimental.set_step(10)
        facts.append(tf.summary.experimental.get_step())
        tf.summary.scalar("x", 1.0)
        tf.summary.scalar("x", 2.0, step=11)
        step = tf.Variable(20, dtype=tf.int64)
        tf.summary.experimental.set_step(step)
        tf.summary.scalar("x", 3.0)
        step.assign_add(1)
        tf.summary.scalar("x", 4.0)
        with tf.summary.create_file_writer(folder, filename_suffix=".other").as_default(step=1):
            facts.append(tf.summary.experimental.get_step())
        facts.append(int(tf.summary.experimental.get_step()))
        tf.summary.experimental.set_step(None)
        facts.append(tf.summary.experimental.get_step())
    return {"steps": facts}


@book.program()
def conditions(tf, folder):
    facts = [bool(tf.summary.should_record_summaries())]
    with tf.summary.create_file_writer(folder).as_default(step=1):
        facts.append(bool(tf.summary.should_record_summaries()))
        with tf.summary.record_if(False):
            facts.append(bool(tf.summary.should_record_summaries()))
            facts.append(bool(tf.summary.scalar("no", 1.0)))
        with tf.summary.record_if(lambda: True):
            facts.append(bool(tf.summary.scalar("yes", 1.0)))
        with tf.summary.record_if(tf.constant(False)):
            facts.append(bool(tf.summary.scalar("no", 1.0)))
    facts.append(bool(tf.summary.scalar("nowhere", 1.0, step=1)))
    with tf.summary.create_noop_writer().as_default(step=1):
        facts.append(bool(tf.summary.scalar("nowhere", 1.0)))
    return {"recorded": facts}


@book.program()
def inside_a_function(tf, folder):
    writer = tf.summary.create_file_writer(folder)

    @tf.function
    def train(x, step):
        with writer.as_default(), tf.name_scope("train"):
            tf.summary.scalar("x", x, step=step)
            with tf.summary.record_if(tf.equal(step % 2, 0)):
                tf.summary.scalar("even", x, step=step)
            tf.summary.histogram("h", tf.stack([x, x + 1.0]), step=step, buckets=2)
        return x * 2.0

    for step in range(3):
        train(tf.constant(float(step)), tf.constant(step, tf.int64))
    writer.flush()
    return {}


@book.program()
def a_variable_counts_inside_a_function(tf, folder):
    writer = tf.summary.create_file_writer(folder)
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train():
        with writer.as_default(step=step):
            tf.summary.scalar("x", tf.cast(step, tf.float32) * 10.0)
        step.assign_add(1)

    train()
    train()
    writer.close()
    return {}


@book.program()
def raw_messages(tf, folder):
    summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="made", simple_value=4.0)])
    with tf.summary.create_file_writer(folder).as_default():
        wrote = tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=6)
    return {"wrote": bool(wrote)}


@book.program()
def a_default_writer_for_good(tf, folder):
    writer = tf.summary.create_file_writer(folder)
    writer.set_as_default(step=2)
    tf.summary.scalar("x", 1.0)
    tf.summary.flush()
    tf.summary.create_noop_writer().set_as_default()
    tf.summary.experimental.set_step(None)
    return {}


@book.program()
def refusals(tf, folder):
    said = {}

    def attempt(name, call):
        try:
            call()
            said[name] = "nothing"
        except Exception as error:
            said[name] = type(error).__name__

    with tf.summary.create_file_writer(folder).as_default():
        attempt("no step", lambda: tf.summary.scalar("x", 1.0))
        attempt("not a scalar", lambda: tf.summary.scalar("x", [1.0, 2.0], step=1))
        attempt("not text", lambda: tf.summary.text("x", 1.0, step=1))
        attempt("not a picture", lambda: tf.summary.image("x", np.zeros((3, 3)), step=1))
        attempt("not a number", lambda: tf.summary.scalar("x", "a", step=1))
    closed = tf.summary.create_file_writer(folder)
    closed.close()
    attempt("closed", lambda: closed.as_default().__enter__())
    return said


@book.program(judges=V1_ONLY)
def contrib_in_a_graph(tf, folder):
    from_contrib = tf.contrib.summary
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        writer = from_contrib.create_file_writer(folder, flush_millis=1000)
        with writer.as_default(), from_contrib.always_record_summaries():
            from_contrib.scalar("loss", 0.5)
            from_contrib.histogram("h", [1.0, 2.0])
            from_contrib.image("i", pictures(1))
            from_contrib.scalar("in_family", 2.0, family="f", step=7)
            names = [op.name for op in from_contrib.all_summary_ops()]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                from_contrib.initialize(session=session)
                session.run(from_contrib.all_summary_ops())
                session.run(step.assign_add(3))
                session.run(from_contrib.all_summary_ops())
                session.run(writer.flush())
    return {"names": names}


@book.program(judges=V1_ONLY)
def contrib_every_n_steps(tf, folder):
    from_contrib = tf.contrib.summary
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        writer = from_contrib.create_file_writer(folder)
        with writer.as_default(), from_contrib.record_summaries_every_n_global_steps(2):
            from_contrib.scalar("x", tf.cast(step, tf.float32))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                from_contrib.initialize(graph=tf.get_default_graph(), session=session)
                for _ in range(4):
                    session.run(from_contrib.all_summary_ops())
                    session.run(step.assign_add(1))
                session.run(writer.flush())
    return {}


def events_in(tf, folder):
    """The events of all files in a folder, oldest file first; the first record of a file is left out."""
    described = []
    v1 = tf if hasattr(tf, "Session") else tf.compat.v1
    for path in sorted(glob.glob(os.path.join(folder, "events.out.tfevents.*")), key=lambda p: p.endswith(".other")):
        for event in v1.train.summary_iterator(path):
            if event.WhichOneof("what") == "file_version":
                continue
            if event.WhichOneof("what") != "summary":
                described.append({"what": event.WhichOneof("what"), "step": event.step})
                continue
            for value in event.summary.value:
                described.append(describe_value(event.step, value))
    return described


def describe_value(step, value):
    described = {"step": step, "tag": value.tag, "kind": value.WhichOneof("value")}
    metadata = value.metadata
    described["plugin"] = metadata.plugin_data.plugin_name
    described["content"] = metadata.plugin_data.content.hex()
    described["words"] = [metadata.display_name, metadata.summary_description, getattr(metadata, "data_class", 0)]
    if described["kind"] == "simple_value":
        described["value"] = value.simple_value
    elif described["kind"] == "histo":
        described["value"] = [value.histo.min, value.histo.max, value.histo.num, list(value.histo.bucket)]
    elif described["kind"] == "image":
        described["value"] = [value.image.height, value.image.width, value.image.colorspace]
    elif described["kind"] == "tensor":
        described["shape"] = [dim.size for dim in value.tensor.tensor_shape.dim]
        described["dtype"] = value.tensor.dtype
        described["value"] = numbers_of(value.tensor)
    return described


def numbers_of(tensor):
    """The elements of a TensorProto: strings in short, numbers as they are."""
    if tensor.dtype == 7:
        return [s.hex() if len(s) < 200 else s[:8].hex() + "…" for s in tensor.string_val]
    kinds = {1: np.float32, 2: np.float64, 3: np.int32, 9: np.int64}
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, kinds[tensor.dtype]).tolist()
    return list(tensor.float_val) or list(tensor.double_val) or list(tensor.int_val) or list(tensor.int64_val)


def play(tf, judge, program):
    with tempfile.TemporaryDirectory() as folder:
        facts = program(tf, folder)
        return {"facts": facts, "events": events_in(tf, folder)}


def write(judge, recording):
    write_recording("writers", judge, recording)


def read(judge):
    return read_recording("writers", judge)
