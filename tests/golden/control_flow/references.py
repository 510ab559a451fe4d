"""Programs of TF 1 that read and assign a reference variable in one body; each gives what is fetched.

A turn begins when the one before it has ended (`parallel_iterations=1`): without that, TensorFlow's answers depend on
which of its threads is quicker. For Python 3.7 too.
"""


def variable(tf, value):
    """A reference variable."""
    return tf.compat.v1.Variable(value, use_resource=False)


def loop(tf, test, body, start):
    """A loop of one turn at a time."""
    return tf.compat.v1.while_loop(test, body, start, parallel_iterations=1)


def read_after_assign(tf):
    v = variable(tf, 1.0)

    def body(i, total):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            read = v + 0.0
        return i + 1, total + read

    return loop(tf, lambda i, total: i < 3, body, [0, 0.0])


def identity_after_assign(tf):
    v = variable(tf, 1.0)

    def body(i, total):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            read = tf.identity(v)
        return i + 1, total + read

    return loop(tf, lambda i, total: i < 3, body, [0, 0.0])


def assign_after_read(tf):
    v = variable(tf, 1.0)

    def body(i, total):
        read = v * 2.0
        with tf.control_dependencies([read]):
            written = tf.compat.v1.assign(v, v + 1.0)
        with tf.control_dependencies([written]):
            return tf.identity(i + 1), total + read

    return loop(tf, lambda i, total: i < 3, body, [0, 0.0])


def assigned_by_what_it_was(tf):
    v = variable(tf, 1.0)

    def body(i, step):
        with tf.control_dependencies([tf.compat.v1.assign_sub(v, step)]):
            return i + 1, v * 1.0

    return loop(tf, lambda i, step: i < 4, body, [0, 0.25])


def rows(tf):
    v = variable(tf, [1.0, 2.0])

    def body(i, total):
        with tf.control_dependencies([tf.compat.v1.scatter_add(v, [0], [10.0])]):
            read = v + 0.0
        return i + 1, total + read

    return loop(tf, lambda i, total: i < 3, body, [0, tf.zeros([2])])


def test_reads(tf):
    v = variable(tf, 1.0)

    def body(i):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            return i + 1

    return loop(tf, lambda i: tf.less(v, 30.0), body, [0])


def read_before_the_loop(tf):
    v = variable(tf, 1.0)
    before = v + 0.0

    def body(i, total):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            return i + 1, total + before + v

    with tf.control_dependencies([before]):
        return loop(tf, lambda i, total: i < 3, body, [0, 0.0])


def read_after_the_loop(tf):
    v = variable(tf, 1.0)

    def body(i, total):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            return i + 1, total + v

    count, total = loop(tf, lambda i, total: i < 3, body, [0, 0.0])
    with tf.control_dependencies([count]):
        return total, v + 0.5


def choice(tf):
    v = variable(tf, 1.0)

    def assigned():
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            return v + 0.0

    return tf.cond(tf.constant(True), assigned, lambda: v - 1.0)


def choice_in_loop(tf):
    v = variable(tf, 1.0)

    def assigned():
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 10.0)]):
            return v + 0.0

    def body(i, total):
        return i + 1, total + tf.cond(tf.equal(i % 2, 0), assigned, lambda: v - 1.0)

    return loop(tf, lambda i, total: i < 4, body, [0, 0.0])


def loop_in_loop(tf):
    v = variable(tf, 1.0)

    def inner(j, total):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 1.0)]):
            return j + 1, total + v

    def body(i, total):
        _, within = loop(tf, lambda j, total: j < 2, inner, [0, 0.0])
        with tf.control_dependencies([within]):
            return i + 1, total + within * 100.0 + v

    return loop(tf, lambda i, total: i < 3, body, [0, 0.0])


def reading_loop_in_assigning_loop(tf):
    v = variable(tf, 1.0)

    def body(i, total):
        with tf.control_dependencies([tf.compat.v1.assign_add(v, 1.0)]):
            start = tf.identity(i) * 0
        _, within = loop(tf, lambda j, total: j < 2, lambda j, total: (j + 1, total + v), [start, 0.0])
        return i + 1, total + within

    return loop(tf, lambda i, total: i < 3, body, [0, 0.0])


def gradient_of_reading_loop(tf):
    v = variable(tf, 3.0)
    _, product = loop(tf, lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, 1.0])
    return tf.gradients(product, [v._ref()])


PROGRAMS = {
    name: function
    for name, function in list(globals().items())
    if callable(function) and name not in ("variable", "loop")
}
RUNS = 3


def answers(tf):
    """What each program gives, run after run: the variables keep what was assigned."""
    found = {}
    for name, program in PROGRAMS.items():
        with tf.Graph().as_default():
            fetches = program(tf)
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer())
                runs = [session.run(fetches) for _ in range(RUNS)]
        found[name] = [[v.tolist() for v in (run if isinstance(run, (list, tuple)) else [run])] for run in runs]
    return found
