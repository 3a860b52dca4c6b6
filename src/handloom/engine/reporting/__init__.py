"""The report of a run as a page: charts drawn once, written as SVG into one HTML file and as PNG files."""

from handloom.engine.reporting.page import write_dataset_page, write_page

__all__ = ["write_dataset_page", "write_page"]
