"""Tensors: the base class, and the eager tensor that holds a value.

A host value is a NumPy array: `EagerTensor._array`, next to its `DType`. Arithmetic, indexing and comparison operators
are ops and are put on these classes by `ops/operators`; this file knows only how to hold, show and hand out a value.
`graph/` derives the symbolic tensor. Imported by everybody above `core`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import as_array
from ebbflow.core.shape import TensorShape, from_dims, is_compatible

if TYPE_CHECKING:
    from ebbflow.core.typing import Array, Feeds, SessionLike, ShapeLike


ndarray = np.ndarray
_as_array: list[Any] = []  # (value, dtype) -> array and dtype, as `core.convert` says


def provide_conversion(convert: Any) -> None:
    """Let `core.convert` say what array a value is."""
    _as_array[:] = [convert]


_new = object.__new__

HOST_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class TensorBase:
    """What counts as a tensor: tensors, variables, and classes of programs that derive from it.

    A class that says `_should_act_as_resource_variable` and has the `handle` of a variable is one for tapes.
    """

    __slots__ = ()
    is_tensor_like = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if vars(cls).get("_should_act_as_resource_variable") and not hasattr(cls, "_tape_handle"):
            cls._tape_handle = property(lambda self: self.handle)  # type: ignore[attr-defined]

    if TYPE_CHECKING:  # what `ops/operators` puts on tensors and variables

        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __div__(self, other: Any) -> Tensor: ...
        def __rdiv__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...


class _NumpyOnly:
    """An attribute of NumPy's arrays that tensors get when a program asks for all of them."""

    def __init__(self, name: str):
        self._name = name

    def __get__(self, tensor: Any, kind: type | None = None) -> Any:
        raise AttributeError(no_such_attribute(kind, self._name))


NUMPY_ONLY = frozenset(("T", "astype", "clip", "data", "ravel", "reshape", "size", "tolist", "transpose"))


def no_such_attribute(kind: type | None, name: str) -> str:
    """Return what to say of an attribute that tensors do not have, but NumPy's arrays do."""
    return (
        f"{getattr(kind, '__name__', 'Tensor')} object has no attribute '{name}'. If you are looking for numpy-related "
        "methods, please run the following: tf.experimental.numpy.experimental_enable_numpy_behavior()"
    )


class Tensor(TensorBase):
    """A multi-dimensional array of one dtype: with a value (eager), or the promise of one (in a graph)."""

    # `assign` is set on slices of variables only: v[1:].assign(...). Programs may set attributes of their own.
    __slots__ = ("__dict__", "__weakref__", "assign")
    __array_priority__ = 100  # ndarray + Tensor is Tensor.__radd__
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = set(
        """
        __abs__ __add__ __and__ __div__ __eq__ __floordiv__ __ge__ __getitem__ __gt__ __invert__ __le__ __lt__
        __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pow__ __radd__ __rand__ __rdiv__ __rfloordiv__ __rmatmul__
        __rmod__ __rmul__ __ror__ __rpow__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __xor__
        """.split()  # noqa: SIM905
    )

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over a tensor as its own kind does; libraries take the method from this class."""
        if type(self).__iter__ is Tensor.__iter__:
            raise TypeError(f"a {type(self).__name__} is not iterable")
        return type(self).__iter__(self)

    def __bool__(self) -> bool:
        """Refuse: each kind of tensor says itself whether it has a truth value."""
        raise TypeError(f"a {type(self).__name__} has no truth value")

    def __nonzero__(self) -> bool:
        """Return a tensor as a truth value: `__bool__` under the name it had in Python 2."""
        return bool(self)

    if TYPE_CHECKING:  # what each kind of tensor has, and what `ops/operators` and `ops/arrays/slicing` put on them

        @property
        def _dims(self) -> Any: ...  # Dims; most who ask have made sure that the rank is known
        @property
        def _array(self) -> np.ndarray: ...

        assign: Any

        def constant_value(self) -> Any: ...
        def constant_dims(self) -> Any: ...
        def numpy(self) -> Any: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray: ...
        def __len__(self) -> int: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __index__(self) -> int: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...

    # What each kind of tensor has in its own way. Programs look at the class, too (`functools.wraps(tf.Tensor.eval)`).

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        raise _bare("dtype")

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        raise _bare("shape")

    @property
    def name(self) -> str:
        """The name of the tensor in its graph."""
        raise _bare("name")

    @property
    def op(self) -> Any:
        """The operation that gives this tensor."""
        raise _bare("op")

    @property
    def graph(self) -> Any:
        """The graph it is in."""
        raise _bare("graph")

    @property
    def device(self) -> str:
        """The device on which it is, or will be, computed."""
        raise _bare("device")

    @property
    def value_index(self) -> int:
        """Which of its operation's outputs it is."""
        raise _bare("value_index")

    def consumers(self) -> list[Any]:
        """Return the operations that take this tensor."""
        raise _bare("consumers")

    def set_shape(self, shape: ShapeLike) -> None:
        """Add to what is known of the shape."""
        raise _bare("shape")

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> Array:
        """Return the value, in `session` or the default one where it is in a graph."""
        raise _bare("value")

    def get_shape(self) -> TensorShape:
        """Return the static shape."""
        return self.shape

    @property
    def ndim(self) -> int | None:
        return self.shape.rank

    def ref(self) -> Reference:
        """Return a hashable stand-in for this tensor, to be used as a dictionary key."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self) -> int:
        if compares_by_value(self):
            raise TypeError(
                "Tensor is unhashable. Instead, use tensor.ref() as the key."
                if isinstance(self, EagerTensor)
                else "Symbolic tensors of a function are unhashable. Use tensor.ref() as the key."
            )
        return id(self)

    def __copy__(self) -> Tensor:
        return self

    @classmethod
    def _override_operator(cls, operator: str, func: Any) -> None:
        setattr(cls, operator, func)


def _bare(attribute: str) -> AttributeError:
    return AttributeError(f"a bare tf.Tensor has no {attribute}: tensors are made by ops")


class Reference:
    """A hashable reference to a tensor or variable; two are equal when they refer to the same object."""

    __slots__ = ("__weakref__", "_target")

    def __init__(self, target: Any):
        self._target = target

    def deref(self) -> Any:
        """Return the object referred to."""
        return self._target

    def __hash__(self) -> int:
        return id(self._target)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._target is other._target

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return id(self._target) < id(other._target)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._target!r}>"


for _name in NUMPY_ONLY:
    setattr(Tensor, _name, _NumpyOnly(_name))


def compares_by_value(tensor: Tensor) -> bool:
    """Return whether `==` on this tensor compares elements (TF 2) and not identity (TF 1, plain graphs)."""
    if not context.switches.tensor_equality:
        return False
    if tensor.__class__ is EagerTensor:
        return True
    graph = getattr(tensor, "graph", None)
    return graph is not None and graph.building_function and context.eager_outside_functions()


class EagerTensor(Tensor):
    """A tensor with its value."""

    _array: np.ndarray
    __slots__ = ("_array", "_device", "_dtype")  # `_device` is set only where it is not the first

    def __init__(self, array: Array, dtype: DType | None = None, device: str | None = None):
        if dtype.__class__ is not DType:  # TensorFlow's own takes any value, and a dtype's number or none
            try:
                wanted = None if dtype is None else dtypes.as_dtype(dtype)
            except TypeError as error:
                raise TypeError(f"Invalid dtype argument value: {error}") from None
            array, dtype = _as_array[0](array, wanted)
        self._array = array
        self._dtype = dtype
        if context.recorders and context.thread.devices:
            self._device = context.thread.devices[-1].name

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return from_dims(self._array.shape)

    @property
    def _dims(self) -> tuple[int, ...]:
        return self._array.shape

    def _shape_tuple(self) -> tuple[int, ...]:
        return self._array.shape

    def _shape_as_list(self) -> list[int]:
        return list(self._array.shape)

    def _rank(self) -> int:
        return self._array.ndim

    @property
    def device(self) -> str:
        try:
            return self._device
        except AttributeError:
            return HOST_DEVICE

    backing_device = device

    def cpu(self) -> EagerTensor:
        """Return this tensor: its value lies in host memory already."""
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """Return this tensor where it is: without a GPU, placement falls back to the host."""
        return self

    def set_shape(self, shape: ShapeLike) -> None:
        """Check that `shape` is compatible with the value's shape."""
        if not is_compatible(self._array.shape, TensorShape(shape)._dims):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}")

    def _undefined(self, what: str) -> AttributeError:
        return AttributeError(f"Tensor.{what} is undefined when eager execution is enabled.")

    @property
    def name(self) -> str:
        raise self._undefined("name")

    @property
    def op(self) -> Any:
        raise self._undefined("op")

    @property
    def graph(self) -> Any:
        raise self._undefined("graph")

    @property
    def value_index(self) -> int:
        raise self._undefined("value_index")

    def consumers(self) -> list[Any]:
        raise NotImplementedError(
            "Tensor.consumers is undefined when eager execution is enabled: an eager value "
            "keeps no list of its users; build a tf.Graph to inspect one"
        )

    # --- its value --------------------------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """Return a copy of the value as a NumPy array (a NumPy scalar, or bytes, for a scalar)."""
        array = self._array
        if self._dtype is dtypes.resource or self._dtype is dtypes.variant:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot convert a Tensor of dtype {self._dtype.name} to a NumPy array."
            )
        if array.dtype.names is not None:
            array = dtypes.as_integers(array)
        return array.copy() if array.ndim else array[()]

    def _numpy(self) -> Any:
        if self._dtype is dtypes.resource or self._dtype is dtypes.variant:
            self.numpy()  # refuses
        return dtypes.as_integers(self._array)

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> Array:
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    def constant_value(self) -> np.ndarray:
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = dtypes.as_integers(self._array)
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False  # tensors do not change; np.array(t) gives a copy to write to
        return view

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        array = self._array if self._array.flags.writeable else self._array.copy()  # DLPack has no read-only memory
        return array.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __buffer__(self, flags: int) -> memoryview:
        """Give the elements to look at (Python 3.12 and later ask for them)."""
        if self._dtype.np.hasobject:
            raise BufferError(f"Cannot convert a Tensor of dtype {self._dtype.name} to a buffer")
        return memoryview(dtypes.as_integers(self._array)).toreadonly()  # type: ignore[arg-type]

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self._array.shape[0]))

    def __bool__(self) -> bool:
        array = self._array
        if array.size != 1 or array.ndim:
            array = self._one_element("bool")
        return bool(array)

    def __int__(self) -> int:
        return int(self._real_element("int"))

    def __float__(self) -> float:
        return float(self._real_element("float"))

    def _real_element(self, kind: str) -> Any:
        found = self._one_element(kind)
        return found.real if found.dtype.kind == "c" else found

    def __complex__(self) -> complex:
        return complex(self._one_element("complex"))

    def __index__(self) -> int:
        if self._array.ndim or not self._dtype.is_integer:
            raise TypeError(f"only integer scalar tensors can be converted to an index, got {self!r}")
        return int(self._array)

    def __round__(self, digits: int | None = None) -> Any:
        value: Any = self._array[()]
        return round(value) if digits is None else round(value, digits)

    def __format__(self, spec: str) -> str:
        if not spec and self._dtype in (dtypes.resource, dtypes.variant):
            return _held_text(self)
        return format(self._array if self._array.ndim else self._array[()], spec)

    def _one_element(self, kind: str) -> np.ndarray:
        if self._array.size != 1:
            if kind == "bool":
                raise ValueError(
                    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
                    if self._array.size
                    else "The truth value of an empty tensor is ambiguous"
                )
            raise TypeError(f"only length-1 tensors can be converted to Python {kind}, got shape {self._array.shape}")
        return self._array.reshape(())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._array, self._dtype.name)

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return EagerTensor(self._array.copy(), self._dtype)

    # --- how it prints ----------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return f"tf.Tensor({_text(self, str)}, shape={self._array.shape}, dtype={self._dtype.name})"

    def __repr__(self) -> str:
        kind = "value" if self._dtype in (dtypes.resource, dtypes.variant) else "numpy"
        return f"<tf.Tensor: shape={self._array.shape}, dtype={self._dtype.name}, {kind}={_text(self, repr)}>"


def _held_text(tensor: EagerTensor) -> str:
    """Return what a handle stands for, as text, or what a variant holds."""
    if tensor._array.ndim:
        return "<unprintable>"
    held = tensor._array[()]
    if tensor._dtype is dtypes.variant:
        return f"<{type(held).__name__}>"
    kind = getattr(held, "HANDLE_TYPE", type(held).__name__)
    return f'<ResourceHandle(name="", device="{tensor.device}", container="localhost", type="{kind}")>'


def _text(tensor: EagerTensor, form: Any) -> str:
    """Return the value as text: several lines begin on a line of their own, a scalar looks like a Python number."""
    array = dtypes.as_integers(tensor._array)
    if tensor._dtype is dtypes.resource or tensor._dtype is dtypes.variant:
        return _held_text(tensor)
    if array.ndim:
        text = form(array)
        return "\n" + text if "\n" in text else text
    value = array[()]
    if isinstance(value, (bytes, str)):
        return form(value)
    if form is str:
        return str(value)
    return repr(value.item() if isinstance(value.item(), (int, float, complex)) else float(value))


def _unpickle(array: np.ndarray, dtype: str) -> EagerTensor:
    return EagerTensor(array, dtypes.as_dtype(dtype))


def wrap(array: Any, dtype: DType) -> EagerTensor:
    """Return an eager tensor around `array`, which is not copied."""
    tensor = _new(EagerTensor)
    tensor._array = array if array.__class__ is ndarray and array.dtype is dtype.np else as_array(array, dtype.np)
    tensor._dtype = dtype
    return tensor


NOTHING: Mapping[str, Any] = {}


def is_tensor(value: Any) -> bool:
    """Return whether `value` is a tensor or something that stands for tensors (a variable, a composite)."""
    if isinstance(value, Tensor):
        return True
    says = getattr(type(value), "is_tensor_like", None)
    if says is None:  # an object may say it of itself alone
        return getattr(value, "__dict__", NOTHING).get("is_tensor_like") is True
    return says is True or (isinstance(says, property) and value.is_tensor_like is True)
