"""Ports of this machine that nobody has."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """Return ports that nobody has now; held together so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
