"""`tensorflow.python.util`'s small tools for functions: decorators that can be seen through, signatures, exports.

Knows the standard library's `inspect`, and that a decorated function carries its `TFDecorator`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple


class TFDecorator:
    """How a function was decorated: by what, around which function."""

    def __init__(
        self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None
    ) -> None:
        functools.update_wrapper(self, target)  # first: a target that is decorated has the fields below as well
        self.decorator_name, self.decorated_target = decorator_name, target
        self.decorator_doc, self.decorator_argspec = decorator_doc, decorator_argspec
        with contextlib.suppress(TypeError, ValueError):
            self.__signature__ = _dressed_signature(target, decorator_argspec)
        if decorator_doc:
            self.__doc__ = decorator_doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.decorated_target(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Callable[..., Any]:
    """Return `decorator_func` dressed as `target`, so that `unwrap` and signatures see through it."""
    caller = sys._getframe(1).f_code.co_name  # inspect.stack() would read the source of every frame
    decorator = TFDecorator(decorator_name or caller, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    decorator_func.__dict__.update(
        {key: value for key, value in getattr(target, "__dict__", {}).items() if key not in decorator_func.__dict__}
    )
    decorator_func.__doc__ = decorator_doc or target.__doc__
    decorator_func.__wrapped__ = target
    with contextlib.suppress(TypeError, ValueError):
        decorator_func.__signature__ = _dressed_signature(target, decorator_argspec)
    return decorator_func


def _dressed_signature(target: Any, argspec: Any) -> inspect.Signature:
    """Return the signature that a decorated function shows: what was said of it, or its target's.

    What was said of a method includes `self`, which those that call it through decorators do not give.
    """
    if argspec is not None:
        return _signature_of(argspec)
    signature = inspect.signature(target)
    first = next(iter(signature.parameters), None)
    if first == "self" and any(inspect.ismethod(d.decorated_target) for d in unwrap(target)[0]):
        return signature.replace(parameters=list(signature.parameters.values())[1:])
    return signature


def _signature_of(spec: Any) -> inspect.Signature:
    kinds, empty = inspect.Parameter, inspect.Parameter.empty
    defaults = list(spec.defaults or ())
    padded = [empty] * (len(spec.args) - len(defaults)) + defaults
    found = [kinds(n, kinds.POSITIONAL_OR_KEYWORD, default=d) for n, d in zip(spec.args, padded, strict=True)]
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    given = getattr(spec, "kwonlydefaults", None) or {}
    for name in getattr(spec, "kwonlyargs", None) or ():
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=given.get(name, empty)))
    more = getattr(spec, "varkw", None) or getattr(spec, "keywords", None)
    return inspect.Signature([*found, *([kinds(more, kinds.VAR_KEYWORD)] if more else [])])


def unwrap(maybe_tf_decorator: Callable[..., Any]) -> tuple[list[TFDecorator], Any]:
    """Return the decorators of a function, outermost first, and the function inside."""
    found: list[TFDecorator] = []
    here = maybe_tf_decorator
    while True:
        decorator = here if isinstance(here, TFDecorator) else getattr(here, "_tf_decorator", None)
        if decorator is None:
            return found, here
        found.append(decorator)
        here = decorator.decorated_target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """Put another function inside a decorated one, in place of `previous_target`."""
    decorators, target = unwrap(decorator_func)
    if target is not previous_target or not decorators:
        return new_target
    innermost = decorators[-1]
    innermost.decorated_target = new_target
    return decorator_func


# tf_inspect: the standard library's questions, asked of the function inside.

FullArgSpec = inspect.FullArgSpec


class ArgSpec(NamedTuple):
    """The arguments of a function, as `inspect.getargspec` gave them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """Return the arguments of a function, seen through its decorators."""
    decorators, target = unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            return decorator.decorator_argspec
    spec = inspect.getfullargspec(target)
    ours = (getattr(target, "__module__", None) or "").partition(".")[0] == __name__.partition(".")[0]
    return spec._replace(annotations={}) if ours else spec  # TensorFlow's own say nothing of types; some compare


def getargspec(obj: Any) -> ArgSpec | inspect.FullArgSpec:
    """Return the arguments of a function in the old four-part form: those given by name stand behind the others."""
    for decorator in unwrap(obj)[0]:
        if decorator.decorator_argspec is not None:
            return decorator.decorator_argspec
    full = getfullargspec(obj)
    named, given = full.kwonlyargs or [], full.kwonlydefaults or {}
    late = [name for name in itertools.dropwhile(lambda name: name not in given, named) if name not in given]
    if isinstance(obj, functools.partial) and late:
        raise ValueError(f"{obj} has some keyword-only arguments, which are not supported: {late}.")
    defaults = (*(full.defaults or ()), *(given[name] for name in named if name in given))
    return ArgSpec([*full.args, *named], full.varargs, full.varkw, defaults or None)


def getcallargs(func: Any, /, *positional: Any, **named: Any) -> dict[str, Any]:
    """Return which value each argument of a call would get, as far as the call says."""
    spec = getfullargspec(func)
    if inspect.ismethod(func):
        positional = (func.__self__, *positional)
    values = dict(zip((name for name in spec.args if name not in named), positional, strict=False))
    defaults = spec.defaults or ()
    missing = dict(zip(spec.args[len(spec.args) - len(defaults) :], defaults, strict=True))
    found = {**named, **values}
    return {**found, **{k: v for k, v in {**missing, **(spec.kwonlydefaults or {})}.items() if k not in found}}


def isanytargetmethod(fn: Any) -> bool:
    """Return whether a call of this brings an object of its own: a method, also in a partial, or a callable object."""
    decorators, target = unwrap(fn)
    if any(inspect.ismethod(decorator.decorated_target) for decorator in decorators):
        return True
    while isinstance(target, functools.partial):
        target = target.func
    return callable(target) and not inspect.isfunction(target)


def _through(question: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(question)
    def ask(object: Any) -> Any:
        return question(unwrap(object)[1])

    return ask


getdoc = inspect.getdoc
getmro = inspect.getmro
getmembers = inspect.getmembers
currentframe = inspect.currentframe
stack = inspect.stack
ismodule = inspect.ismodule
isframe = inspect.isframe
getfile = _through(inspect.getfile)
getmodule = _through(inspect.getmodule)
getsource = _through(inspect.getsource)
getsourcefile = _through(inspect.getsourcefile)
getsourcelines = _through(inspect.getsourcelines)
isbuiltin = _through(inspect.isbuiltin)
isclass = _through(inspect.isclass)
Parameter, Signature = inspect.Parameter, inspect.Signature
signature = inspect.signature
isfunction = _through(inspect.isfunction)
isgenerator = _through(inspect.isgenerator)
isgeneratorfunction = _through(inspect.isgeneratorfunction)
ismethod = _through(inspect.ismethod)
isroutine = _through(inspect.isroutine)


# function_utils


def fn_args(fn: Any) -> tuple[str, ...]:
    """Return the names of a function's arguments, without those a partial or a method already has."""
    if isinstance(fn, functools.partial):
        return tuple(name for name in fn_args(fn.func)[len(fn.args) :] if name not in set(fn.keywords or []))
    call = fn if inspect.isroutine(unwrap(fn)[1]) or not hasattr(fn, "__call__") else fn.__call__  # noqa: B004
    args = list(getfullargspec(call).args)
    bound = inspect.ismethod(call) or getattr(call, "__self__", None) is not None
    return tuple(args[1:] if bound else args)


def has_kwargs(fn: Any) -> bool:
    """Return whether a function takes any keyword."""
    if isinstance(fn, functools.partial):
        return has_kwargs(fn.func)
    if not callable(fn):
        raise TypeError(f"Argument `fn` should be a callable. Received: fn={fn} (of type {type(fn)})")
    return getfullargspec(fn if inspect.isroutine(fn) else fn.__call__).varkw is not None


def get_func_name(func: Any) -> str:
    """Return what to call a function in a message."""
    _, inner = unwrap(func)
    if isinstance(inner, functools.partial):
        return get_func_name(inner.func)
    if not callable(inner):
        raise ValueError(f"Argument `func` must be a callable. Received func={func} (of type {type(func)})")
    return getattr(inner, "__name__", None) or str(type(inner))


def get_func_code(func: Any) -> Any:
    """Return a function's code object, or None where it has none."""
    _, inner = unwrap(func)
    if not callable(inner):
        raise ValueError(f"Argument `func` must be a callable. Received func={func} (of type {type(func)})")
    return getattr(inner, "__code__", None)


def keyword_args_only(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that takes no positional arguments."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(
                f"The function {func.__name__} only accepts keyword arguments. Do not pass positional ones."
            )
        return func(**kwargs)

    return make_decorator(func, call, "keyword_args_only")


def contextmanager(target: Callable[..., Any]) -> Callable[..., Any]:
    """Make a context manager of a generator function, as `contextlib.contextmanager` does."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


# tf_export and all_util: nothing of ours is exported by decorating; the tables in `api/` say what is public. What
# programs export carries its names; what Keras does is found by them.

ATTRIBUTES = {
    "tensorflow": ("_tf_api_names", "_tf_api_names_v1"),
    "estimator": ("_estimator_api_names", "_estimator_api_names_v1"),
    "keras": ("_keras_api_names", "_keras_api_names_v1"),
}
"""Where a thing keeps the names under which a package shows it, in TF 2 and in TF 1."""

NAMES, NAMES_V1 = ATTRIBUTES["keras"]
CONSTANTS, CONSTANTS_V1 = "_tf_api_constants", "_tf_api_constants_v1"
exported: dict[str, Any] = {}
"""What Keras exported, by each of its names."""
exported_by_programs: dict[str, Any] = {}
"""What programs exported as TensorFlow does its own."""


class SymbolAlreadyExposedError(Exception):
    """A thing that has names already is exported again."""


class InvalidSymbolNameError(Exception):
    """A name that is another package's."""


class api_export:  # noqa: N801
    """A decorator that says under which names a thing is shown, and leaves it as it is."""

    def __init__(self, *args: str, **kwargs: Any) -> None:
        self.names = args
        names_v1 = kwargs.get("v1")
        self.names_v1 = args if names_v1 is None else tuple(names_v1)
        self.api_name = kwargs.get("api_name", "tensorflow")
        self._overrides = kwargs.get("overrides") or ()
        self._check()

    def _check(self) -> None:
        for name in (*self.names, *self.names_v1):
            inside = name.startswith("estimator.")
            if inside and self.api_name == "tensorflow":
                raise InvalidSymbolNameError(f"@tf_export is not allowed to export symbols under estimator.*: {name}")
            if not inside and self.api_name == "estimator":
                raise InvalidSymbolNameError(f"Can only export symbols under package estimator, got {name}")

    def __call__(self, thing: Any) -> Any:
        for other in self._overrides:
            bare = unwrap(other)[1]
            for attribute in ATTRIBUTES[self.api_name]:
                if attribute in vars(bare):
                    delattr(bare, attribute)
        inner = unwrap(thing)[1]
        for attribute, names in zip(ATTRIBUTES[self.api_name], (self.names, self.names_v1), strict=True):
            if self.api_name != "keras" and attribute in getattr(inner, "__dict__", ()):
                raise SymbolAlreadyExposedError(
                    f"Symbol {inner.__name__} is already exposed as {getattr(inner, attribute)}."
                )
            with contextlib.suppress(AttributeError, TypeError):  # a thing that takes no attributes stays without
                setattr(inner, attribute, names)
        found = exported if self.api_name == "keras" else exported_by_programs
        found.update(dict.fromkeys(self.names, thing))
        found.update((f"compat.v1.{name}", thing) for name in self.names_v1)
        return thing

    def export_constant(self, module_name: str, name: str) -> None:
        """Note the names of a module's constant."""
        module = sys.modules[module_name]
        for attribute, names in ((CONSTANTS, self.names), (CONSTANTS_V1, self.names_v1)):
            if not hasattr(module, attribute):
                setattr(module, attribute, [])
            getattr(module, attribute).append((names, name))


def get_v1_names(symbol: Any) -> list[str]:
    """Return the names under which a thing is shown in TF 1."""
    held = getattr(unwrap(symbol)[1], "__dict__", {})
    return [name for _, old in ATTRIBUTES.values() for name in held.get(old, ())]


def get_v2_names(symbol: Any) -> list[str]:
    """Return the names under which a thing is shown in TF 2."""
    held = getattr(unwrap(symbol)[1], "__dict__", {})
    return [name for new, _ in ATTRIBUTES.values() for name in held.get(new, ())]


def get_v1_constants(module: Any) -> list[Any]:
    """Return names and constants of a module, as TF 1 shows them."""
    return list(getattr(module, CONSTANTS_V1, []))


def get_v2_constants(module: Any) -> list[Any]:
    """Return names and constants of a module, as TF 2 shows them."""
    return list(getattr(module, CONSTANTS, []))


tf_export = functools.partial(api_export, api_name="tensorflow")
estimator_export = functools.partial(api_export, api_name="estimator")
keras_export = functools.partial(api_export, api_name="keras")


def kwarg_only(f: Any) -> Any:
    """Decorate a function that takes no positional arguments."""
    return keyword_args_only(f)


def get_canonical_name(api_names: Any, deprecated_api_names: Any) -> str | None:
    """Return the first name that is not deprecated."""
    return next((name for name in api_names if name not in set(deprecated_api_names or [])), None)


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Leave a module's names as they are: what is public is not decided by hiding."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """Return the public names of a module."""
    return [name for name in dir(importlib.import_module(module_name)) if not name.startswith("_")]


class LazyLoader(types.ModuleType):
    """A module that is imported when first used, and then stands under `local_name` in its parent's globals."""

    def __init__(
        self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None
    ) -> None:
        super().__init__(name)
        self._local_name, self._parent_module_globals = local_name, parent_module_globals

    def _load(self) -> types.ModuleType:
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        self.__dict__.update({k: v for k, v in module.__dict__.items() if not k.startswith("__")})
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())
