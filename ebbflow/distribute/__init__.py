"""Strategies: which replicas run a step, where variables live, and how results of replicas become one."""

from ebbflow.distribute import default  # noqa: F401  (says which strategy holds where none was chosen)
