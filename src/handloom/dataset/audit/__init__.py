"""Quality figures of a dataset, ours or anyone's in LeRobot v3."""

from handloom.dataset.audit.audit_dataset import AuditFinding, audit_dataset

__all__ = ["AuditFinding", "audit_dataset"]
