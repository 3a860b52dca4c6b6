"""Skills that only move an arm or its gripper."""
