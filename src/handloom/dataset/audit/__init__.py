"""Quality figures of a dataset, ours or anybody's in LeRobot v3."""

from handloom.dataset.audit.audit_dataset import Finding, audit_dataset

__all__ = ["Finding", "audit_dataset"]
