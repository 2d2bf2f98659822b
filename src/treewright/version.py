"""The version of the package: the single source for the build and for model files."""

from __future__ import annotations

__version__ = "0.2.0"
