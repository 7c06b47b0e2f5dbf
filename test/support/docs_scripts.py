"""Scripts of docs/ as modules."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).resolve().parents[2] / "docs"


def load_script(name: str) -> ModuleType:
    """Import a script of docs/, which imports others from there."""
    sys.path.insert(0, str(DOCS))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(DOCS))


def load_cached_script(name: str, table: str) -> ModuleType:
    """Import a script of docs/ that calls each function of one of its tables once."""
    script = load_script(name)
    functions = getattr(script, table)
    setattr(script, table, {key: cache(function) for key, function in functions.items()})
    return script
