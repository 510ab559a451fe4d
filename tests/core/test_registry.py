"""Ops are found by name, and so are rules that stand in a module of their own."""

import subprocess
import sys
import textwrap


def run_in_a_new_process(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_gradient_of_a_loop_is_loaded_when_it_is_asked_for():
    program = """
        import sys
        import ebbflow as tf

        @tf.function
        def power(x):
            return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]

        def loaded(name):
            return f"ebbflow.functions.control_flow.{name}" in sys.modules

        power(tf.constant(2.0))
        before = loaded("while_gradient")
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = power(x)
        print(before, loaded("while_gradient"), float(tape.gradient(y, x)))
    """
    assert run_in_a_new_process(program) == "False True 32.0"


def test_the_gradient_of_a_choice_is_loaded_when_it_is_asked_for():
    program = """
        import ebbflow as tf

        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x = tf.compat.v1.placeholder(tf.float32, [])
            y = tf.cond(x > 0.0, lambda: x * x, lambda: -x)
            print(session.run(tf.gradients(y, [x])[0], {x: 3.0}))
    """
    assert run_in_a_new_process(program) == "6.0"
