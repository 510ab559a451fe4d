"""The rows of `layers` played where ops run at once; judged by the same recording as in a graph."""

from . import layers
from .book import Book

book = Book(judges=("2.21",))
for _name, _row in layers.LAYERS.items():
    book.add(_name, None, row=_row)


def play(tf, judge, program):
    return layers.eagerly(tf.compat.v1, program.facts["row"])


def read(judge):
    return layers.read("1.15")
