"""Matrices known by what they do: products and solves without writing them out.

The kinds that any operator may become (adjoint, inverse, composition) are entered when this room is first imported.
"""

from ebbflow.linear import composed as composed
