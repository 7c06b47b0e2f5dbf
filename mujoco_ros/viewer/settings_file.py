"""What pages show, kept in a file per scene: layout, camera, display flags, overlays and plots."""

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import SizeLimit, read_file
from mujoco_ros.model.file_cache import FileCache

_LOG = logging.getLogger(__name__)
_SUFFIX = ".json"
_LARGEST = SizeLimit(1 << 16, of_client=1 << 16)
_LONGEST_NAME = 100

Settings = dict[str, Any]
"""Values of JSON by name."""


class SettingsFile:
    """The settings of scenes, in a file each."""

    def __init__(self, folder: Path) -> None:
        self._files = FileCache(folder, _SUFFIX)
        self._has_warned = False

    def read(self, scene: str) -> Settings:
        """Return the settings of a scene, which anyone may have written; none if there are none."""
        try:
            path = self._files.find(_name(scene))
            if path is None:
                return {}
            kept = json.loads(read_file(path, largest=_LARGEST))
            return kept if isinstance(kept, dict) else {}
        except (OSError, ValueError, RecursionError, UserInputError) as error:
            _LOG.warning("the settings of the page cannot be read: %s", error)
            return {}

    def write(self, scene: str, settings: Mapping[str, Any]) -> None:
        """Keep the settings of a scene."""
        try:
            self._files.write(_name(scene), json.dumps(settings, indent=1).encode())
        except OSError as error:
            if not self._has_warned:  # one warning is enough
                self._has_warned = True
                _LOG.warning("the settings of the page cannot be written: %s", error)


def _name(scene: str) -> str:
    return re.sub(r"[^\w-]+", "_", scene)[:_LONGEST_NAME]
