"""Objects that find each other by name: what a checkpoint and a SavedModel walk along."""

from ebbflow.trackable import wrappers  # noqa: F401  (says what a list, dict or tuple becomes as an attribute)
