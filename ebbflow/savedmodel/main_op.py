"""The ops that prepare a session for a model: variables, local variables and tables initialised."""

from __future__ import annotations

from ebbflow.core.typing import Effect
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.state.functions import global_variables_initializer, local_variables_initializer
from ebbflow.state.lookup.interface import tables_initializer


def main_op() -> Effect:
    """Return the operation that initialises variables and tables."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str) -> Effect:
    """Return the operation that initialises all, and then runs a restore op."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
