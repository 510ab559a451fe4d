"""Sums of linear operators that are an operator again: the cheapest kind that can hold each sum is taken first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dimension_value
from ebbflow.linear.kinds import LinearOperatorDiag, LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from ebbflow.linear.operator import LinearOperator
from ebbflow.linear.sized import LinearOperatorIdentity, LinearOperatorScaledIdentity
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.arrays.creation import ones

IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
DIAGONALS = (*IDENTITIES, LinearOperatorDiag)


class Hints(NamedTuple):
    """What is promised of a sum; None: what both summands promise."""

    is_non_singular: bool | None = None
    is_positive_definite: bool | None = None
    is_self_adjoint: bool | None = None


def _promised(one: LinearOperator, other: LinearOperator, given: Hints | None) -> dict[str, bool | None]:
    hints = given or Hints()
    definite, adjoint = hints.is_positive_definite, hints.is_self_adjoint
    if adjoint is None:
        adjoint = one.is_self_adjoint and other.is_self_adjoint
    non_singular = hints.is_non_singular
    if definite is None:
        definite = one.is_positive_definite and other.is_positive_definite
        non_singular = True if definite else non_singular
    return {"is_non_singular": non_singular, "is_self_adjoint": adjoint, "is_positive_definite": definite}


class Adder:
    """One kind of sum: which operators it can add, and what they become."""

    kinds: tuple[type, ...] = ()

    @property
    def name(self) -> str:
        """The kind's name."""
        return type(self).__name__

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        """Return whether the sum of two operators can be of this kind."""
        return isinstance(op1, self.kinds) and isinstance(op2, self.kinds)

    def add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str | None, hints: Hints | None = None
    ) -> Any:
        """Return the sum of two operators."""
        name = operator_name or f"Add/{op1.name}__{op2.name}/"
        with name_scope(self.name, None, []):
            return self._add(op1, op2, name=name, **_promised(op1, op2, hints))

    def _add(self, op1: Any, op2: Any, **promises: Any) -> LinearOperator:
        raise NotImplementedError(f"{self.name} must say in _add what the sum of two operators is")


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape_tensor(), operator.dtype)


class AddAndReturnScaledIdentity(Adder):
    """Identities, scaled or not, are a scaled identity."""

    kinds = IDENTITIES

    def _add(self, op1: Any, op2: Any, **promises: Any) -> LinearOperator:
        scale = _multiplier(op1) + _multiplier(op2)
        return LinearOperatorScaledIdentity(op1.range_dimension_tensor(), scale, **promises)


class AddAndReturnDiag(Adder):
    """What has nothing beside its diagonal stays so."""

    kinds = DIAGONALS

    def _add(self, op1: Any, op2: Any, **promises: Any) -> LinearOperator:
        return LinearOperatorDiag(op1.diag_part() + op2.diag_part(), **promises)


class AddAndReturnTriL(Adder):
    """Triangles and diagonals are a triangle."""

    kinds = (*DIAGONALS, LinearOperatorLowerTriangular)

    def _add(self, op1: Any, op2: Any, **promises: Any) -> LinearOperator:
        return LinearOperatorLowerTriangular(_dense(op1, op2), **promises)


class AddAndReturnMatrix(Adder):
    """Any two operators are a matrix."""

    kinds = (LinearOperator,)

    def _add(self, op1: Any, op2: Any, **promises: Any) -> LinearOperator:
        return LinearOperatorFullMatrix(_dense(op1, op2), **promises)


def _dense(one: Any, other: Any) -> Any:
    """Return the sum as a matrix: what is only a diagonal is added to the other."""
    return one.add_to_tensor(other.to_dense()) if isinstance(one, DIAGONALS) else other.add_to_tensor(one.to_dense())


TIERS = ([AddAndReturnScaledIdentity()], [AddAndReturnDiag()], [AddAndReturnTriL()], [AddAndReturnMatrix()])


def _check(operators: list[LinearOperator]) -> None:
    if not operators:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {operators}")
    if not all(isinstance(operator, LinearOperator) for operator in operators):
        raise TypeError(f"Argument 'operators' must contain only LinearOperator instances.  Found: {operators}")
    for word in ("domain", "range"):
        sizes = [(op.name, dimension_value(getattr(op, f"{word}_dimension"))) for op in operators]
        if len({size for _, size in sizes if size is not None}) > 1:
            raise ValueError(f"Operators must have the same {word} dimension. Found: {sizes}")
    shape = operators[0].batch_shape
    for operator in operators[1:]:
        shape = broadcast_static_shape(shape, operator.batch_shape)


def add_operators(
    operators: Iterable[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[Adder]] | None = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """Return the fewest operators whose sum is that of all: each tier adds what it can."""
    if isinstance(operators, LinearOperator) or not isinstance(operators, Iterable):
        raise TypeError(f"Expected argument 'operators' to be a \"proper\" iterable; got {operators!r}")
    left = list(operators)
    _check(left)
    with name_scope(name, "add_operators", []):
        for tier in TIERS if addition_tiers is None else addition_tiers:
            left = _added(left, tier, operator_name)
        return left


def _added(operators: list[LinearOperator], tier: Sequence[Adder], operator_name: str | None) -> list[LinearOperator]:
    """Return operators after all sums that a tier can do, the first ones first."""
    waiting, done = operators, []
    while waiting:
        first, *others = waiting
        found = next(
            ((i, adder) for i, other in enumerate(others) for adder in tier if adder.can_add(first, other)), None
        )
        if found is None:
            done.append(first)
            waiting = others
        else:
            place, adder = found
            waiting = [adder.add(first, others.pop(place), operator_name), *others]
    return done[::-1]
