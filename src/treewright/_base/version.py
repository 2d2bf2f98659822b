"""The version of the package, in one place for the build and for model files."""

__version__ = "0.1.0"
