"""Record what TensorFlow gives for the datasets of `tests/golden/data/cases.py`.

    /path/to/tf-2.21/python tools/record/datasets.py
    /path/to/tf-1.15/python tools/record/datasets.py

2.21 runs them eagerly and in functions; 1.15 in a session, those it knows. Of each dataset the elements, their spec and
the cardinality are kept; of what is refused, the class of the error and its words.
"""

import base64
import importlib.util
import json
import pathlib
import tempfile
import zlib

import tensorflow as tf

WRITES = ("data/*.json",)
GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "data"
spec = importlib.util.spec_from_file_location("elements", str(GOLDEN / "elements.py"))
elements = importlib.util.module_from_spec(spec)
spec.loader.exec_module(elements)
spec = importlib.util.spec_from_file_location("cases", str(GOLDEN / "cases.py"))
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)

OLD = tf.__version__.startswith("1.")


def main():
    """Write the golden file of the TensorFlow that runs this."""
    with tempfile.TemporaryDirectory() as folder:
        cases.write_files(tf, folder)
        found = old(folder) if OLD else new(folder)
    text = ",\n".join(f"{json.dumps(part)}: {lines(kept)}" for part, kept in sorted(found.items()))
    (GOLDEN / ("tf-1.15.json" if OLD else "tf-2.21.json")).write_text(f"{{{text}}}\n".replace(folder, "FOLDER"))


def lines(kept):
    """Return an object as text, a line for each entry."""
    return (
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in sorted(kept.items())) + "}"
    )


def new(folder):
    """Return what TF 2 gives."""
    found = {"datasets": {}, "loops": {}, "refused": {}}
    for name, make in cases.DATASETS.items():
        dataset = make(tf, folder)
        found["datasets"][name] = {
            "elements": [elements.plain(element) for element in dataset],
            "again": [elements.plain(element) for element in dataset],
            "spec": str(dataset.element_spec),
            "cardinality": int(dataset.cardinality()),
        }
    for name, (function, count) in {**cases.LOOPS, **cases.ITERATED}.items():
        dataset = tf.data.Dataset.range(count)
        given = iter(dataset) if name in cases.ITERATED else dataset
        result = tf.function(lambda x, f=function: f(tf, x))(given)
        kept = {"result": elements.plain(result)}
        if name in cases.ITERATED:
            kept["left"] = [elements.plain(element) for element in given]
        found["loops"][name] = kept
    for name, program in cases.REFUSED.items():
        found["refused"][name] = refusal(program, folder)
    return found


def refusal(program, folder):
    """Return the class and the words of what a program raises."""
    try:
        program(tf, folder)
    except Exception as error:
        words = str(error).split("}} ")[-1].split("\nTraceback")[0]
        return {"class": type(error).__name__, "words": words[:400]}
    return None


def old(folder):
    """Return what TF 1 gives in a session."""
    found = {"datasets": {}}
    for name, make in cases.DATASETS.items():
        with tf.Graph().as_default():
            try:
                iterator = make(tf, folder).make_one_shot_iterator()
                following = iterator.get_next()
            except (AttributeError, TypeError, ValueError):
                continue
            with tf.compat.v1.Session() as session:
                kept = []
                while len(kept) < 1000:
                    try:
                        kept.append(elements.plain(session.run(following)))
                    except tf.errors.OutOfRangeError:
                        break
            found["datasets"][name] = {"elements": kept}
    found["graph"] = old_graph()
    return found


def old_graph():
    """Return a graph with ops that only older graphs have, and what it gives."""
    data = tf.data
    with tf.Graph().as_default() as graph:
        dataset = data.Dataset.range(12).map(lambda x: x * 3, num_parallel_calls=2).shuffle(5, seed=1).repeat(2)
        dataset = dataset.apply(data.experimental.map_and_batch(lambda x: x + 1, 5))
        files = data.Dataset.range(3).interleave(lambda x: data.Dataset.range(x), 2, num_parallel_calls=2)
        files = files.apply(data.experimental.parallel_interleave(data.Dataset.from_tensors, cycle_length=2))
        iterators = [d.make_initializable_iterator() for d in (dataset, files)]
        fetches = [tf.identity(iterator.get_next()).name for iterator in iterators]
        starts = [iterator.initializer.name for iterator in iterators]
        written = base64.b64encode(zlib.compress(graph.as_graph_def().SerializeToString(), 9)).decode()
        with tf.compat.v1.Session() as session:
            session.run(starts)
            found = [drained(session, fetch) for fetch in fetches]
    return {"graph": written, "starts": starts, "fetches": fetches, "elements": found}


def drained(session, fetch):
    """Return all that a tensor gives until the end."""
    found = []
    while True:
        try:
            found.append(session.run(fetch).tolist())
        except tf.errors.OutOfRangeError:
            return found


if __name__ == "__main__":
    main()
