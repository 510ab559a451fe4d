"""`tf.train.Scaffold`: the operations a training program needs beside its own, made where they are not given.

How all variables are initialized, when they count as ready, what is summarised and saved. Each is looked for in a
collection of the graph first, so that several scaffolds of one graph share them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.checkpoint.checkpoint import CheckpointBase
from ebbflow.checkpoint.object_graph import ObjectGraphView
from ebbflow.checkpoint.saver import Saver, get_saver_or_default
from ebbflow.core import context
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Feeds, Nested
from ebbflow.graph import scopes
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.arrays.joining import concat
from ebbflow.state import functions, shared_resources
from ebbflow.state.lookup.interface import tables_initializer
from ebbflow.summary import ops as summary

USE_DEFAULT = object()
"""Given for an argument: the default is meant, where None means: none."""


class Scaffold:
    """The operations around a training step."""

    def __init__(
        self,
        init_op: Nested = None,
        init_feed_dict: Feeds | None = None,
        init_fn: Callable[..., Any] | None = None,
        ready_op: Nested = None,
        ready_for_local_init_op: Nested = None,
        local_init_op: Nested = None,
        summary_op: Nested = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Feeds | None = None,
    ):
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        other = copy_from_scaffold

        def given(name: str, value: Any) -> Any:
            return getattr(other, name) if other is not None and value is None else value

        self._init_op = given("_init_op", init_op)
        self._ready_op = given("_ready_op", ready_op)
        self._ready_for_local_init_op = given("_ready_for_local_init_op", ready_for_local_init_op)
        self._local_init_op = given("_local_init_op", local_init_op)
        self._local_init_feed_dict = given("_local_init_feed_dict", local_init_feed_dict)
        self._summary_op = given("_summary_op", summary_op)
        self._saver = given("_saver", saver)
        self._init_feed_dict = given("_init_feed_dict", init_feed_dict)
        theirs = getattr(other, "_user_init_fn", None)
        self._user_init_fn = theirs if init_fn is None else init_fn

    @property
    def _init_fn(self) -> Any:
        return None if self._user_init_fn is None else lambda sess: self._user_init_fn(self, sess)

    def finalize(self) -> Scaffold:
        """Make what is missing, and end the building of the graph; returns itself."""
        get = self.get_or_default
        if self._init_op is None:
            self._init_op = get("init_op", GraphKeys.INIT_OP, default_init_op)
        if self._ready_op is None:
            self._ready_op = get("ready_op", GraphKeys.READY_OP, default_ready_op)
        if self._ready_for_local_init_op is None:
            key = GraphKeys.READY_FOR_LOCAL_INIT_OP
            self._ready_for_local_init_op = get("ready_for_local_init_op", key, default_ready_for_local_init_op)
        if self._local_init_op is None:
            self._local_init_op = get("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
        if self._summary_op is None:
            self._summary_op = get("summary_op", GraphKeys.SUMMARY_OP, summary.merge_all)
        if self._saver is None:
            self._saver = get_saver_or_default()
        if isinstance(self._saver, CheckpointBase):
            self._saver = Saver(ObjectGraphView(self._saver).frozen_saveable_objects(), sharded=True)
        self._saver.build()
        context.default_graph().finalize()
        return self

    @property
    def init_fn(self) -> Callable[..., Any] | None:
        """A function of the session, called after `init_op` has run."""
        return self._init_fn

    @property
    def init_op(self) -> Effect:
        """What initializes the variables, where no checkpoint does."""
        return self._init_op

    @property
    def ready_op(self) -> Tensor:
        """The names of what is not initialized yet: none, where the session is ready."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Tensor:
        """The names of what must be initialized before `local_init_op` may run."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Effect:
        """What initializes local variables and tables, in every process."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Effect:
        """What is fed to `local_init_op`."""
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Tensor | None:
        """All summaries, merged."""
        return self._summary_op

    @property
    def saver(self) -> Saver | None:
        """What writes and reads checkpoints."""
        return self._saver

    @property
    def init_feed_dict(self) -> Effect:
        """What is fed to `init_op`."""
        return self._init_feed_dict

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Nested:
        """Return the one item of a collection; where there is none, make it and put it there."""
        graph = context.default_graph()
        items = graph.get_collection(collection_key)
        if len(items) > 1:
            raise RuntimeError(
                f"More than one item in the collection '{collection_key}'. Please indicate which one to use by passing "
                f"it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if items:
            return items[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Effect:
        """Return the operation that initializes local variables, tables and local resources."""
        return scopes.group(
            functions.local_variables_initializer(),
            tables_initializer(),
            shared_resources.initialize_resources(shared_resources.local_resources()),
        )


def default_init_op() -> Any:
    """Return the operation that initializes global variables and shared resources."""
    return scopes.group(
        functions.global_variables_initializer(),
        shared_resources.initialize_resources(shared_resources.shared_resources()),
    )


def default_ready_op() -> Any:
    """Return the names of variables and resources that are not initialized."""
    return concat([functions.report_uninitialized_variables(), shared_resources.report_uninitialized_resources()], 0)


def default_ready_for_local_init_op() -> Any:
    """Return the names of global variables and shared resources that are not initialized."""
    return concat(
        [
            functions.report_uninitialized_variables(functions.global_variables()),
            shared_resources.report_uninitialized_resources(shared_resources.shared_resources()),
        ],
        0,
    )
