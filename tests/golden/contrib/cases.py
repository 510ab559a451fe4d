"""What files of cases have in common: written for TensorFlow 1.15's Python too, which the answers are from.

A case is a function of `tf` that builds into a graph of its own and returns a list of arrays; it is named for what it
asks.
"""

import numpy as np


class Cases(dict):
    """Cases by their names; as a decorator it takes one more."""

    def __call__(self, function):
        self[function.__name__] = function
        return function

    def answers(self, tf, names=None):
        """Run some or all of them; return lists that JSON can hold."""
        found = {}
        for name in names or self:
            with tf.Graph().as_default():
                tf.set_random_seed(7)
                found[name] = [np.asarray(value).tolist() for value in self[name](tf)]
        return found


def run(tf, *fetches, **kwargs):
    """Return values after initialising; after `times` of `updates` where they are given."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        for _ in range(kwargs.get("times", 0)):
            session.run(kwargs["updates"])
        return session.run(list(fetches))
