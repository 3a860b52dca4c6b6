"""Quality figures of any LeRobot v3 dataset."""

from handloom.dataset.audit.audit_dataset import AuditFinding, audit_dataset

__all__ = ["AuditFinding", "audit_dataset"]
