"""The published modules of Isaac Teleop: change the import, keep the pipeline."""
