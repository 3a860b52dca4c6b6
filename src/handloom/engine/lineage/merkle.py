"""One hash for many files, of which each can be proved to be among them without the others."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

Proof = tuple[tuple[str, bytes], ...]
"""Neighbours on the way from a leaf to the root: on its ``left`` or ``right``, and their hashes."""


def leaf_hash(name: str, entry: Mapping[str, Any]) -> bytes:
    """Return the hash of a file: of its name, size and content hash."""
    return hashlib.sha256(b"\x00" + f"{name}\n{entry['bytes']}\n{entry['sha256']}".encode()).digest()


def _join(left: bytes, right: bytes) -> bytes:
    # Leaves and nodes are told apart by their first byte, so that no node can pass for a file.
    return hashlib.sha256(b"\x01" + left + right).digest()


def _levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """Return the tree from the leaves up; a node without a neighbour goes up as it is."""
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        row = levels[-1]
        above = [_join(row[k], row[k + 1]) for k in range(0, len(row) - 1, 2)]
        levels.append(above + row[len(row) - len(row) % 2 :])
    return levels


def root_of(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the root of the tree over a list of files, ordered by name."""
    if not files:
        return hashlib.sha256(b"").hexdigest()
    return _levels([leaf_hash(name, files[name]) for name in sorted(files)])[-1][0].hex()


def proof_of(files: Mapping[str, Mapping[str, Any]], name: str) -> Proof:
    """Return the neighbours that lead from a file to the root."""
    names = sorted(files)
    place, proof = names.index(name), []
    for row in _levels([leaf_hash(other, files[other]) for other in names])[:-1]:
        beside = place ^ 1
        if beside < len(row):
            proof.append(("left" if beside < place else "right", row[beside]))
        place //= 2
    return tuple(proof)


def is_proved(root: str, name: str, entry: Mapping[str, Any], proof: Proof) -> bool:
    """Return whether a file of this name, size and hash is in the tree with this root."""
    found = leaf_hash(name, entry)
    for side, other in proof:
        found = _join(other, found) if side == "left" else _join(found, other)
    return found.hex() == root
