"""Matrices known by what they do: products and solves without writing them out.

The kinds that any operator may become (adjoint, inverse, composition, product) are entered when this is first imported.
"""

from ebbflow.linear import algebra as algebra
from ebbflow.linear import composed as composed
