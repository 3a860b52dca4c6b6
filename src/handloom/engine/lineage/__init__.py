"""Lineage: a certificate for a whole dataset, and reproducing the dataset from it."""

from handloom.engine.lineage.dataset_certificate import CERTIFICATE, check_certificate, write_certificate
from handloom.engine.lineage.remake import remake

__all__ = ["CERTIFICATE", "check_certificate", "remake", "write_certificate"]
