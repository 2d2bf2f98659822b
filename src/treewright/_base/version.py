"""The version of the package: the single source for the build and for model files."""

__version__ = "0.1.0"
