"""Loops of a session's graph of which only some variables are fetched: what a run leaves undone. TensorFlow 1.15's answers
stand in `pruned.json`.
"""


def loop(tf, a, b, c):
    """Nobody waits for `a`; the third variable needs the second, all need the counter."""

    def body(i, x, y):
        tf.assign_add(a, 1.0)
        with tf.control_dependencies([tf.assign_add(b, 1.0)]):
            x = tf.identity(x) + 1.0
        with tf.control_dependencies([tf.assign_add(c, 1.0)]):
            i = i + 1
        return i, x, y + x

    return tf.while_loop(lambda i, x, y: i < 3, body, [0, 0.0, 0.0])


def apart(tf, a, b, c):
    """The counter needs neither of the others, nor they each other."""

    def body(i, x, y):
        with tf.control_dependencies([tf.assign_add(b, 1.0)]):
            x = tf.identity(x) + 1.0
        with tf.control_dependencies([tf.assign_add(c, 1.0)]):
            y = tf.identity(y) + 2.0
        return i + 1, x, y

    return tf.while_loop(lambda i, x, y: i < 3, body, [0, 0.0, 0.0])


def chosen(tf, a, b, c):
    """A loop in a branch."""
    zeros = [tf.constant(0), tf.constant(0.0), tf.constant(0.0)]
    return tf.cond(tf.constant(True), lambda: list(loop(tf, a, b, c)), lambda: [tf.identity(z) for z in zeros])


def nested(tf, a, b, c):
    """A loop in a loop."""
    return tf.while_loop(lambda i, x, y: i < 2, lambda i, x, y: [i + 1, *apart(tf, a, b, c)[1:]], [0, 0.0, 0.0])


PROGRAMS = {f.__name__: f for f in (loop, apart, chosen, nested)}
FETCHES = ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2])


def answer(tf, build, fetch):
    """What three runs give, and the three variables after them."""
    with tf.Graph().as_default(), tf.Session() as session:
        zero = tf.zeros_initializer()
        variables = [tf.get_variable(name, [], initializer=zero, use_resource=True) for name in "abc"]
        outputs = build(tf, *variables)
        session.run(tf.global_variables_initializer())
        given = [session.run([outputs[i] for i in fetch]) for _ in range(3)]
        return [[float(x) for x in run] for run in given], [float(x) for x in session.run(variables)]


def answers(tf):
    """All of them, by program and fetches."""
    return {f"{name} {fetch}": answer(tf, build, fetch) for name, build in PROGRAMS.items() for fetch in FETCHES}
