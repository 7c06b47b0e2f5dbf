"""Optional parts of the package, which the extras of setup.py install."""

import shlex
from importlib.util import find_spec

from mujoco_ros.model.errors import UserInputError

EXTRAS = {
    "viewer": {"websockets": ""},
    "planning": {
        "mink": ">=1.3",
        "ompl": ">=2.0",
        "qpsolvers": "",
        "toppra": ">=0.6.10",
        "daqp": ">=0.11",
    },
    "evaluation": {"matplotlib": ""},
    "diagrams": {"pygraphviz": ""},
    "decomposition": {"coacd": ""},
    "policy": {"onnxruntime": ">=1.20"},
    "cluster": {"ray": ">=2.50"},
    "video": {"av": ">=14"},
}
"""The Python modules of each optional part, which no other part imports, with their versions."""


class MissingExtraError(UserInputError):
    """An optional part is not installed."""


def require(extra: str, feature: str) -> None:
    """Check that an optional part is installed, without an import of it.

    Args:
        extra: One of `EXTRAS`.
        feature: The feature that needs it, for the error message.

    Raises:
        MissingExtraError: A module is missing.
    """
    missing = [module for module in EXTRAS[extra] if find_spec(module) is None]
    if missing:
        requirements = shlex.join(module + EXTRAS[extra][module] for module in missing)
        raise MissingExtraError(
            f"{feature} needs {', '.join(missing)}; run: pip install {requirements}"
        )
