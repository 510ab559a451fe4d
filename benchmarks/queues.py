"""An example through the queues and threads of TF 1, in Ebbflow and in TensorFlow 1.15 by turns.

    python -m benchmarks.queues --reference PYTHON      # a Python 3.7 that has TensorFlow 1.15

A TFRecord file of examples goes through `string_input_producer`, `TFRecordReader`, `parse_single_example` and
`shuffle_batch`, with one thread that enqueues and with two. Each library runs in a process of its own, which waits
while the other one is asked; figures are the least processor and wall time an example of all rounds, and the median.
This file is what the processes run, too: it keeps to what Python 3.7 understands.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

EXAMPLES, BATCH, CAPACITY, LEAST = 20000, 128, 4000, 2000
BATCHES = 160  # a round: several times what queues hold, so that what they got while waiting counts for little


def load(kind):
    """Return TensorFlow 1.15, or what Ebbflow has in its place."""
    if kind == "ebbflow":
        import ebbflow.compat.v1 as tf
    else:
        import tensorflow as tf
    return tf


def write(tf, path):
    """Write the file of examples."""
    feature, train = tf.train.Feature, tf.train
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(EXAMPLES):
            lists = {
                "x": feature(float_list=train.FloatList(value=[i + j / 16 for j in range(16)])),
                "label": feature(int64_list=train.Int64List(value=[i % 10])),
                "name": feature(bytes_list=train.BytesList(value=[b"item%d" % i])),
            }
            writer.write(train.Example(features=train.Features(feature=lists)).SerializeToString())


def pipeline(tf, path, threads):
    """Return the tensors of a batch."""
    _, record = tf.TFRecordReader().read(tf.train.string_input_producer([path]))
    asked = {
        "x": tf.io.FixedLenFeature([16], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = tf.io.parse_single_example(record, asked)
    columns = [parsed[name] for name in sorted(parsed)]
    return tf.train.shuffle_batch(columns, BATCH, CAPACITY, LEAST, num_threads=threads)


def serve(kind, path, threads):
    """Run a round for each line that comes in; answer with processor and wall time an example."""
    tf = load(kind)
    if not os.path.exists(path):
        write(tf, path)
    with tf.Graph().as_default():
        batch = pipeline(tf, path, threads)
        config = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
        with tf.Session(config=config) as session:
            coordinator = tf.train.Coordinator()
            runners = tf.train.start_queue_runners(session, coordinator)
            session.run(batch)
            print("ready", flush=True)
            for _ in sys.stdin:
                processor, wall = time.process_time(), time.perf_counter()
                for _ in range(BATCHES):
                    session.run(batch)
                spent = time.process_time() - processor, time.perf_counter() - wall
                print(*[seconds / BATCHES / BATCH for seconds in spent], flush=True)
            coordinator.request_stop()
            coordinator.join(runners, stop_grace_period_secs=20)


class Worker:
    """A process that runs rounds when it is asked to."""

    def __init__(self, python, kind, path, threads):
        command = [python, os.path.abspath(__file__), "--serve", kind, path, str(threads)]
        place = dict(os.environ)
        if kind == "ebbflow":
            place["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        else:
            place.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            universal_newlines=True, env=place,
        )  # fmt: skip
        self._line()

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended: " + " ".join(self.process.args))
        return line

    def round(self):
        """Return processor and wall time an example."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [float(word) for word in self._line().split()]

    def end(self):
        """Have it end."""
        self.process.stdin.close()
        self.process.wait(60)


def compare(reference, rounds):
    """Print a table."""
    print("| threads | clock | ebbflow, least (median) | TensorFlow 1.15, least (median) | ours by theirs |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for threads in (1, 2):
            path = os.path.join(folder, "examples")
            ours = Worker(sys.executable, "ebbflow", path, threads)  # which writes the file
            theirs = Worker(reference, "tensorflow", path, threads)
            times = [(ours.round(), theirs.round()) for _ in range(rounds + 1)][1:]
            ours.end()
            theirs.end()
            for i, clock in enumerate(("processor", "wall")):
                least, shown = [], []
                for who in range(2):
                    found = [1e6 * pair[who][i] for pair in times]
                    least.append(min(found))
                    shown.append(f"{min(found):.1f} µs ({statistics.median(found):.1f})")
                print(f"| {threads} | {clock} | {shown[0]} | {shown[1]} | {least[0] / least[1]:.2f} |")


def main():
    """Compare, or work for a process that does."""
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, help="a Python that has TensorFlow 1.15")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    return compare(given.reference, given.rounds)


if __name__ == "__main__":
    main()
