"""The version of Handloom, written into every dataset."""

VERSION = "0.1.0"
