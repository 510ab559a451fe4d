"""What a program may say about how replicas talk to each other: `tf.distribute.experimental.CommunicationOptions`.

Only holds and checks what is said. Who moves the values decides what of it matters: sums inside one process move
nothing that could be packed or waited for.
"""

from __future__ import annotations

import enum


class CommunicationImplementation(enum.Enum):
    """Who brings values of replicas together."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """How values of replicas are brought together: in packs of how many bytes, how long at most, and by whom.

    >>> CommunicationOptions(bytes_per_pack=1 << 20).merge(CommunicationOptions(timeout_seconds=5.0))
    CommunicationOptions(bytes_per_pack=1048576, timeout_seconds=5.0, implementation=AUTO)
    """

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO,
    ):
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError(
                "Argument `implementation` must be instance of "
                f"`tf.distribute.experimental.CommunicationImplementation`, not {implementation!r}"
            )
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = implementation

    def merge(self, options: CommunicationOptions | None) -> CommunicationOptions:
        """Return these options, with what others say in place of what these leave open."""
        if options is None:
            return self
        said = options.implementation is not CommunicationImplementation.AUTO
        return CommunicationOptions(
            options.bytes_per_pack or self.bytes_per_pack,
            self.timeout_seconds if options.timeout_seconds is None else options.timeout_seconds,
            options.implementation if said else self.implementation,
        )

    def __repr__(self) -> str:
        return (
            f"CommunicationOptions(bytes_per_pack={self.bytes_per_pack}, timeout_seconds={self.timeout_seconds}, "
            f"implementation={self.implementation.name})"
        )


class CollectiveHints(CommunicationOptions):
    """The older name, without the choice of an implementation.

    >>> CollectiveHints(bytes_per_pack=8).bytes_per_pack
    8
    """

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: float | None = None):
        super().__init__(bytes_per_pack, timeout_seconds)
