"""`graph_callable`, from the first talks about eager execution: graph code used as a function, with its variables.

    @tf.nn.graph_callable
    def inception(image):
        return tf.nn.softmax(inception_v3(image, num_classes=1001, is_training=False)[0])

    inception.restore("/path/to/checkpoint")
    print(len(inception.variables))

The variables that the code asks for by name (`get_variable`, layers) are made by its first trace and shared by all
later ones. `restore` sets them from a checkpoint by name; before the first call it is remembered until they are there.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ebbflow.core import errors
from ebbflow.core.spec import TensorSpec
from ebbflow.core.typing import Nested
from ebbflow.functions.defun import FreeFunction
from ebbflow.io.bundle import BundleReader
from ebbflow.state.variable_scope import AUTO_REUSE, EagerVariableStore, get_variable_scope, variable_scope


class ShapeAndDtype:
    """The shape and dtype of an argument."""

    def __init__(self, shape: Any, dtype: Any):
        self.shape, self.dtype = shape, dtype

    def __iter__(self) -> Any:
        return iter((self.shape, self.dtype))


class GraphCallable:
    """Graph code as a function that knows its variables."""

    def __init__(self, function: Callable[..., Any], specs: Any = None):
        self._store = EagerVariableStore()
        self._code = function
        self._function = FreeFunction(functools.wraps(function)(self._run), function.__name__, autograph=False)
        self._specs = None if specs is None else [TensorSpec(shape, dtype) for shape, dtype in specs]
        self._checkpoint: BundleReader | None = None
        self._known: list[Any] = []
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        if self._specs is not None:
            self._function.get_concrete_function(*self._specs)

    @property
    def _run(self) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            scope = variable_scope(get_variable_scope(), reuse=AUTO_REUSE, auxiliary_name_scope=False)
            with self._store.as_default(), scope:
                return self._code(*args, **kwargs)

        return run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._checkpoint is not None:
            self._function.get_concrete_function(*args, **kwargs)
            self._restore_now()
        return self._function(*args, **kwargs)

    @property
    def variables(self) -> list[Any]:
        """All variables of the code. Before the first call the graph is built once to find them, if it can be."""
        if not self._function._entries and not self._known:
            self._find_variables()
        found = [*self._store.variables(), *self._known, *self._function.variables]
        return list({id(v): v for v in found}.values())

    def _find_variables(self) -> None:
        """Build the graph for floats of any shape, for its variables only."""
        parameters = inspect.signature(self._code).parameters.values()
        specs = [TensorSpec(None) for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        try:
            self._function.get_concrete_function(*specs)
        except (TypeError, ValueError, errors.OpError) as error:
            raise RuntimeError(
                f"the variables of {self.__name__} are made when its graph is built: call it once, or say what its "
                f"arguments are: @graph_callable([ShapeAndDtype(shape, dtype), ...])"
            ) from error
        self._known = list(self._function.variables)
        self._function.forget_traces()
        if self._checkpoint is not None:
            self._restore_now()

    @property
    def trainable_variables(self) -> list[Any]:
        return [v for v in self.variables if v.trainable]

    def restore(self, path: str) -> None:
        """Set the variables from a checkpoint, now or as soon as they are made."""
        self._checkpoint = BundleReader(path)
        if self._function._entries or self._known:
            self._restore_now()

    def _restore_now(self) -> None:
        reader, self._checkpoint = self._checkpoint, None
        if reader is None:
            return
        missing = [v.name for v in self.variables if v.name.partition(":")[0] not in reader]
        if missing:
            raise errors.NotFoundError(
                None,
                None,
                f"{reader.prefix} has no values for {', '.join(missing)}; it has {', '.join(reader.names[:20])}",
            )
        for variable in self.variables:
            variable.assign(reader.read(variable.name.partition(":")[0]))


def graph_callable(shape_and_dtypes: Nested = None) -> Callable[..., Any]:
    """Return graph code as a function with `.variables` and `.restore(path)`.

    Used plain, or with the shapes and dtypes of the arguments, for which the graph is then built at once.
    """
    if callable(shape_and_dtypes):
        return GraphCallable(shape_and_dtypes)
    return lambda function: GraphCallable(function, shape_and_dtypes)
