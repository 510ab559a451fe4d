"""`tf.contrib.tensorboard.plugins.projector`: which embeddings TensorBoard shows, in a file beside the events."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ebbflow import messages
from ebbflow.core.typing import Message
from ebbflow.platform import files

if TYPE_CHECKING:
    from ebbflow.summary.writer import FileWriter


FILE = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: FileWriter, config: Message) -> None:
    """Have TensorBoard show the embeddings that a ProjectorConfig describes, with what `summary_writer` writes."""
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    files.makedirs(logdir)
    files.atomic_write_string_to_file(os.path.join(os.fspath(logdir), FILE), messages.to_text(config))
