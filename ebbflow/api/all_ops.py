"""Every op there is, of whichever room: what `tf.raw_ops` shows.

Rooms above `functions` declare ops too (summaries, session handles, datasets); they are known here because the public
names are.
"""

from __future__ import annotations

from ebbflow.data import op_catalogue as data_ops
from ebbflow.functions import op_catalogue
from ebbflow.functions.op_catalogue import raw_ops
from ebbflow.runtime import handles
from ebbflow.summary import ops, writer_ops

__all__ = ["FAMILIES", "raw_ops"]

FAMILIES = (*op_catalogue.FAMILIES, handles, ops, writer_ops, *data_ops.FAMILIES)
