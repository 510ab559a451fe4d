"""`tensorflow.tools.graph_transforms`: a trained graph, rewritten for where it will run.

`transform` is what people call; it reads what they ask for (`request`) and does one transform after the other. A
transform is a function `(graph_def, request) -> graph_def`: names, devices and attrs (`edits`), what is computed
beforehand (`folding`, `batch_norms`), fewer bits for weights (`weights`). Messages in, messages out; what was given
is never changed.
"""
