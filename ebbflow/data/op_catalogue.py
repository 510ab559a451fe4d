"""Every family of ops of this room, imported."""

from __future__ import annotations

from ebbflow.data import (
    batching,
    csv_files,
    files,
    iterator_ops,
    keeping,
    mapping,
    older_ops,
    random_words,
    selecting,
    sources,
    transformations,
)

FAMILIES = (
    csv_files, sources, files, selecting, batching, mapping, keeping, random_words, iterator_ops, transformations,
    older_ops,
)  # fmt: skip
