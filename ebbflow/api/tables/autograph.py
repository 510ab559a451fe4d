"""The names of `tf.autograph`."""

BOTH = """
[functions.autograph.log]
autograph.: set_verbosity trace
[functions.autograph.public]
autograph.do_not_convert autograph.experimental.do_not_convert
autograph.set_loop_options autograph.experimental.set_loop_options
autograph.experimental.Feature
"""

V1 = """
[functions.autograph.public]
to_code_v1 as autograph.to_code
to_graph_v1 as autograph.to_graph
"""

V2 = """
[functions.autograph.public]
autograph.: to_code to_graph
"""
