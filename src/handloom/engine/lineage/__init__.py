"""Lineage: a certificate over a whole dataset, and the same dataset made again from it."""

from handloom.engine.lineage.dataset_certificate import CERTIFICATE, check_certificate, write_certificate
from handloom.engine.lineage.remake import remake

__all__ = ["CERTIFICATE", "check_certificate", "remake", "write_certificate"]
