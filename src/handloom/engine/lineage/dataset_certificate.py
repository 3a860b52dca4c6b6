"""The certificate of a dataset: its origin, and one hash over all of its files; optionally signed."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from handloom.dataset import DatasetReader
from handloom.dataset.episodes.certificate import package_versions, platform_facts
from handloom.dataset.episodes.episode_files import EXTRAS
from handloom.dataset.episodes.episode_folder import folder_name
from handloom.dataset.files.durable import atomic_write, json_bytes
from handloom.dataset.files.reading import read_json
from handloom.dataset.files.shapes import Count, Hash, PlainObject, Text
from handloom.dataset.lerobot.file_list import FILE_LIST, read_list
from handloom.engine.labelling import labels_present
from handloom.engine.runs.run_directory import MANIFEST, RunDirectory
from handloom.engine.trust import dataset_of
from handloom.errors import FileError, InputError, require

Proof = tuple[tuple[str, bytes], ...]
"""Siblings on the path from a leaf to the root: side (``left`` or ``right``) and hash of each."""


def leaf_hash(name: str, entry: Mapping[str, Any]) -> bytes:
    """Return the hash of a file: of its name, size and content hash."""
    return hashlib.sha256(b"\x00" + f"{name}\n{entry['bytes']}\n{entry['sha256']}".encode()).digest()


def _join(left: bytes, right: bytes) -> bytes:
    # Leaves and nodes are distinguished by their first byte, so that a node cannot be mistaken for a file.
    return hashlib.sha256(b"\x01" + left + right).digest()


def _levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """Return the tree from the leaves up; a node without a sibling is passed up unchanged."""
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
    """Return the siblings that lead from a file to the root."""
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


CERTIFICATE = "certificate.json"
"""Name of the file in the folder of a dataset."""
LARGEST = 64 * 2**20
"""Maximum size of a certificate [bytes]; it contains the task."""
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Signature(TypedDict):
    """Signature of a certificate."""

    algorithm: Literal["ed25519"]
    public_key: Key
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class DatasetCertificate(TypedDict):
    """``certificate.json`` of a dataset."""

    dataset_certificate_version: Literal[1]
    versions: dict[str, Text]
    platform: dict[str, Text]
    episodes: Count
    frames: Count
    files: Count
    bytes: Count
    root: Hash
    """Root of the Merkle tree over ``meta/files.json``."""
    attempts: Count
    """Number of attempts made; 0 if unknown."""
    run: PlainObject
    """The manifest of the run, which holds the task and the seed; empty if unknown."""
    labels: list[Text]
    """Kinds of labels added after the run."""
    signature: Signature | None


def write_certificate(path: Path, *, key: Path | None = None) -> Path:
    """Write the certificate of a dataset, or of the dataset of a run, into its folder.

    Args:
        path: The dataset or the run.
        key: Private Ed25519 key, a PEM file, that signs it; None leaves it unsigned.

    Raises:
        FileError: The dataset has no list of files, or the key cannot be read.
        MissingExtraError: A signature is requested and the package cryptography is not installed.
    """
    root = dataset_of(path)
    if not (root / FILE_LIST).is_file():
        raise FileError(f"{root} has no {FILE_LIST}, so there are no hashes to certify; it was not merged by Handloom")
    files, dataset = read_list(root), DatasetReader(root)
    run = RunDirectory.open(root) if (root.parent / MANIFEST).is_file() and root.name == "dataset" else None
    told: dict[str, Any] = {
        "dataset_certificate_version": 1,
        "versions": dict(package_versions()),
        "platform": dict(platform_facts()),
        "episodes": dataset.info["total_episodes"],
        "frames": dataset.info["total_frames"],
        "files": len(files),
        "bytes": sum(entry["bytes"] for entry in files.values()),
        "root": root_of(files),
        "attempts": len(run.counted()) if run else 0,
        "run": _manifest(run) if run else {},
        "labels": _later_labels(root, run),
    }
    told["signature"] = None if key is None else _signed(told, key)
    with atomic_write(root / CERTIFICATE) as partial:
        partial.write_bytes(json_bytes(told, indent=1))
    return root / CERTIFICATE


def _manifest(run: RunDirectory) -> dict[str, Any]:
    """Return the settings of a run, with only the file name of its task's path."""
    values = run.settings.model_dump(mode="json")
    return {**values, "task_path": Path(values["task_path"]).name}


def _later_labels(root: Path, run: RunDirectory | None) -> list[str]:
    present = labels_present(root / EXTRAS / folder_name(0))
    return [] if run is not None and run.settings.labels else list(present)


def read_certificate(file: Path) -> DatasetCertificate:
    """Read a certificate.

    Raises:
        FileError: It is missing or damaged.
    """
    return read_json(file, DatasetCertificate, limit=LARGEST)


def check_certificate(root: Path, *, public_key: str | None = None) -> tuple[str, ...]:
    """Describe the errors in the certificate of a dataset; empty if it is correct.

    Args:
        root: The dataset.
        public_key: Key of the required signature, 64 hexadecimal digits; None accepts any valid signature, or none.
    """
    told = read_certificate(root / CERTIFICATE)
    files = read_list(root)
    faults = []
    if told["root"] != root_of(files):
        faults.append(f"{CERTIFICATE}: the root of the files is {root_of(files)}, certified is {told['root']}")
    counts = {"files": len(files), "bytes": sum(entry["bytes"] for entry in files.values())}
    for name, count in counts.items():
        if told[name] != count:
            faults.append(f"{CERTIFICATE}: {told[name]} {name} were certified, there are {count}")
    signature = told["signature"]
    if public_key is not None and (signature is None or signature["public_key"] != public_key):
        faults.append(f"{CERTIFICATE}: it is not signed with the key {public_key}")
    if signature is not None and not _is_signed({**told, "signature": None}, signature):
        faults.append(f"{CERTIFICATE}: the signature does not match")
    return tuple(faults)


def _plain(told: dict[str, Any]) -> bytes:
    """Return the signed content: the certificate without its signature, with sorted keys."""
    return json_bytes({name: told[name] for name in sorted(told) if name != "signature"})


def _signed(told: dict[str, Any], key: Path) -> dict[str, str]:
    serialization = require("cryptography.hazmat.primitives.serialization", extra="teleop")
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", extra="teleop")
    if not key.is_file():
        raise FileError(f"there is no key {key}; make one with: openssl genpkey -algorithm ed25519 -out {key}")
    try:
        private = serialization.load_pem_private_key(key.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise InputError(f"{key} is not an unencrypted private key: {error}") from error
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise InputError(f"{key} must be an Ed25519 key: openssl genpkey -algorithm ed25519 -out {key}")
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    public = private.public_key().public_bytes(*raw).hex()
    return {"algorithm": "ed25519", "public_key": public, "value": private.sign(_plain(told)).hex()}


def _is_signed(told: dict[str, Any], signature: Signature) -> bool:
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", extra="teleop")
    invalid = require("cryptography.exceptions", extra="teleop").InvalidSignature
    public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
    try:
        public.verify(bytes.fromhex(signature["value"]), _plain(told))
    except invalid:
        return False
    return True
