"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import settings

# Machines that run tests are busy at times: a slow example is no failure.
settings.register_profile("treewright", deadline=None)
settings.load_profile("treewright")
