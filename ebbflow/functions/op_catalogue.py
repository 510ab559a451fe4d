"""Every op there is, those of this room included: what `tf.raw_ops` shows, and what a GraphDef may hold.

Whoever looks ops up by name imports this.
"""

from __future__ import annotations

from ebbflow.functions import branch_op, call, functionalize, lstm_loop, while_op
from ebbflow.ops import catalogue
from ebbflow.ops.raw_ops import raw_ops

__all__ = ["FAMILIES", "raw_ops"]

FAMILIES = (*catalogue.FAMILIES, branch_op, call, while_op, functionalize, lstm_loop)
