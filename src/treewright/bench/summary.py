"""All results as plain data for a file, with what is needed to read them later: versions, machine, settings."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from treewright._base.version import __version__
from treewright.bench.results import CaseResult
from treewright.bench.runner import Settings
from treewright.bench.targets import verdicts

FORMAT = 1
"""Raised when a field changes its meaning."""


def summary(results: Mapping[str, CaseResult], settings: Settings) -> dict[str, Any]:
    """Return everything that was measured."""
    return {
        "format": FORMAT,
        "treewright": __version__,
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": platform.machine(), "cpus": os.cpu_count()},
        "settings": asdict(settings),
        "cases": [result.to_dict() for result in results.values()],
        "targets": [verdict.to_dict() for verdict in verdicts(results)],
    }
