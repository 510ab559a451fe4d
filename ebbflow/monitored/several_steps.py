"""Hooks for training whose one run makes several steps, and the variable that says how many."""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.monitored.basic_loops import StopAfterNEvalsHook
from ebbflow.monitored.hooks import StopAtStepHook
from ebbflow.state.initializers import Ones
from ebbflow.state.variable_scope import AUTO_REUSE, get_variable, variable_scope

STEPS_PER_RUN = "steps_per_run"


def get_or_create_steps_per_run_variable() -> Any:
    """Return the variable that says how many steps one run makes."""
    graph = get_default_graph()
    for variable in graph.get_collection(STEPS_PER_RUN):
        return variable
    with variable_scope("internal", reuse=AUTO_REUSE):
        variable = get_variable(
            STEPS_PER_RUN,
            initializer=Ones(),
            shape=[],
            dtype=dtypes.int32,
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES, STEPS_PER_RUN],
            use_resource=True,
        )
    return variable


class MultiStepStopAtStepHook(StopAtStepHook):
    """Ends training at a step; before each run it says how many steps are left, `steps_per_run` at most."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int = 1):
        if steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        super().__init__(num_steps, last_step)
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        """Find the global step and the variable."""
        super().begin()
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _load(self, session: Any, step: int) -> None:
        assert self._last_step is not None
        self._steps_per_run_variable.load(min(self._last_step - step, self._steps_per_run_initial_value), session)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Work out the last step, and how many steps the first run makes."""
        super().after_create_session(session, coord)
        self._load(session, session.run(self._global_step_tensor))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Ask for the end where the step is reached, else say how many steps the next run makes."""
        step = run_context.session.run(self._global_step_tensor)
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._load(run_context.session, step)


class MultiStepStopAfterNEvalsHook(StopAfterNEvalsHook):
    """Stops after a number of evaluations, of which one run makes several."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1):
        super().__init__(num_evals)
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        """Find the variable."""
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Say how many steps the first run makes."""
        self._load(session, 0)

    def _load(self, session: Any, done: int) -> None:
        if self._num_evals is not None:
            left = min(self._num_evals - done, self._steps_per_run_initial_value)
            self._steps_per_run_variable.load(left, session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stop where it is reached, else say how many steps the next run makes."""
        super().after_run(run_context, run_values)
        if not run_context.stop_requested:
            self._load(run_context.session, run_values.results["evals_completed"])
