"""The version of the wheel, read by its build too."""

__version__ = "0.1.0"
