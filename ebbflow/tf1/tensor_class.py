"""`tf.Tensor` as TF 1 knew it: the very class of the tensors in graphs, of which eager tensors are instances too.

Many programs of the time ask `type(x) is tf.Tensor`. Only the TF 1 door loads this file, and from then on
SymbolicTensor stands for all tensors in isinstance.
"""

from __future__ import annotations

from ebbflow.graph.symbolic import GraphTensorType, SymbolicTensor

GraphTensorType.stands_for_all = True
Tensor = SymbolicTensor
