"""All graph programs in one book, and how one is played: build it in a fresh graph, describe every node."""

from . import graphs_arrays, graphs_basics, graphs_nn, graphs_state, graphs_training
from .book import EVERYTHING, Book, describe_attrs, describe_graph, graph_module, read_recording, write_recording

book = Book()
for _part in (graphs_basics, graphs_arrays, graphs_nn, graphs_state, graphs_training):
    book.include(_part.book)


def play(tf, judge, program):
    """Build the program in a graph of its own; return its nodes, collections and facts, and attrs where asked."""
    v1 = graph_module(tf, judge)
    with v1.Graph().as_default() as graph:
        facts = program(v1)
    played = describe_graph(graph, program.facts.get("compare", EVERYTHING), facts)
    if program.facts.get("graph_def") and judge != "2.21-v1":
        played["attrs"] = describe_attrs(graph.as_graph_def())
    return played


def write(judge, recording):
    write_recording("graphs", judge, recording)


def read(judge):
    return read_recording("graphs", judge)
