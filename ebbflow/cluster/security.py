"""Who may speak to a server: a token, and certificates where there are any.

A server runs graphs for whoever reaches it, so every stream must show the job's token. It is what the environment says
(`EBBFLOW_CLUSTER_TOKEN`, which `ebbflow launch` sets), or else a secret of this user's own, made on first use in a file
that nobody else can read: processes of one user on one machine, or with one home, find each other without being told.
With `EBBFLOW_TLS_CERT`, `_KEY` and `_CA` (paths of PEM files) both ends prove who they are and nothing is in the clear.
Knows files and the environment; gRPC's credentials are made from what it finds.
"""

from __future__ import annotations

import hmac
import os
import pathlib
import secrets
from typing import NamedTuple

from ebbflow.core import errors

TOKEN = "EBBFLOW_CLUSTER_TOKEN"
_CERTIFICATE = ("EBBFLOW_TLS_CERT", "EBBFLOW_TLS_KEY", "EBBFLOW_TLS_CA")


def token() -> str:
    """Return the token of this job, or of this user."""
    return os.environ.get(TOKEN) or _users_own()


def _users_own() -> str:
    path = pathlib.Path(os.environ.get("EBBFLOW_CACHE") or pathlib.Path.home() / ".cache" / "ebbflow") / "cluster-token"
    try:
        return _existing(path)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    try:
        os.link(fresh, path)  # whoever is first wins, and nobody reads half a token
    except FileExistsError:
        pass
    finally:
        os.unlink(fresh)
    return _existing(path)


def _existing(path: pathlib.Path) -> str:
    if hasattr(os, "getuid"):
        status = path.stat()
        if status.st_mode & 0o077 or status.st_uid != os.getuid():
            raise errors.PermissionDeniedError(
                None, None, f"{path} can be read by others, so it is no secret: remove it, or set {TOKEN}"
            )
    return path.read_text().strip()


def same(one: str, other: str) -> bool:
    """Return whether two tokens are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(one.encode(), other.encode())


class Certificates(NamedTuple):
    """The contents of the PEM files."""

    certificate: bytes
    key: bytes
    authority: bytes


def certificates() -> Certificates | None:
    """Return the certificates that the environment names, or None where it names none."""
    paths = [os.environ.get(name) for name in _CERTIFICATE]
    if not any(paths):
        return None
    for name, path in zip(_CERTIFICATE, paths, strict=True):
        if not path:
            wanted = ", ".join(_CERTIFICATE)
            raise errors.InvalidArgumentError(None, None, f"TLS takes all of {wanted}; {name} is not set")
    try:
        return Certificates(*(pathlib.Path(path or "").read_bytes() for path in paths))
    except OSError as error:
        raise errors.NotFoundError(None, None, f"a file of TLS cannot be read: {error}") from None
