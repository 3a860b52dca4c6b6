"""Access to a page: a token per run, and a self-signed certificate for headsets and phones."""

import datetime
import hashlib
import ipaddress
import os
import re
import secrets
from pathlib import Path

from handloom.cache import user_cache
from handloom.errors import require

DAYS = 365


def token_of(run: Path, folder: Path | None = None) -> str:
    """Return the token of a run's page, created once and stored, so that a saved address stays valid.

    It is stored with the user's other secrets, not in the run folder, which may be shared.

    Args:
        run: Folder of the run.
        folder: Folder of the tokens; by default the user's cache.
    """
    folder = folder or user_cache() / "teleop"
    file = folder / f"{hashlib.sha256(str(run.resolve()).encode()).hexdigest()[:24]}.token"
    if file.is_file() and re.fullmatch(r"[\w-]{20,80}", token := file.read_text(encoding="utf-8")):
        return token
    folder.mkdir(parents=True, exist_ok=True)
    token = secrets.token_urlsafe(16)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(token)
    return token


def self_signed(host: str, folder: Path | None = None, *, extra: str = "teleop") -> tuple[Path, Path]:
    """Return a certificate and its key for an address, created once and stored; the browser asks once to accept it.

    Args:
        host: Host name or address at which the page is opened.
        folder: Folder of the two files; by default the user's cache.
        extra: The extra of Handloom that installs the required packages.
    """
    require("cryptography", extra=extra)
    folder = folder or user_cache() / "teleop"
    stem = "".join(c if c.isalnum() else "_" for c in host)
    certificate, key = folder / f"{stem}.crt", folder / f"{stem}.key"
    if not (certificate.is_file() and key.is_file() and _lasts(certificate)):
        folder.mkdir(parents=True, exist_ok=True)
        _write(host, certificate, key)
    return certificate, key


def _lasts(certificate: Path) -> bool:
    """Return whether a certificate is valid for another day."""
    from cryptography import x509

    end = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    return end > datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)


def _write(host: str, certificate: Path, key: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "handloom")])
    now = datetime.datetime.now(datetime.UTC)
    try:
        subject: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        subject = x509.DNSName(host)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([subject]), critical=False)
        .sign(private, hashes.SHA256())
    )
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(secret)
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
