"""`tf.contrib.quantize`: a network's graph, changed in place so that it trains with the rounding it will be used with.

`public` is what people call. It folds batch normalisation into the weights in front of it (`folding`, and `unfused` for
normalisation that is spelled out), then puts fake quantisation behind weights and activations (`layers`). `patterns`
finds the places; `fake` makes the nodes. Nothing here knows how a graph runs.
"""
