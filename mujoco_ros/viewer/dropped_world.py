"""A file that a user drops on the page, to be loaded as a world."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from mujoco_ros.model.archives import SUFFIXES as ARCHIVES
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import LARGEST_FILE, LARGEST_TEXT
from mujoco_ros.model.file_cache import LIMIT_BYTES, FileCache
from mujoco_ros.viewer.clients import OfferedModel

DROPPED = "dropped"
"""Description of such a world, and name of the folder of those that have to be files."""
LARGEST = LARGEST_FILE.of_client
"""Most bytes of a file."""
_TEXTS = (".yaml", ".yml", ".xml", ".mjcf", ".urdf")
_FILES = (".mjb", *ARCHIVES)


class DroppedWorld(NamedTuple):
    """A world to load: a file of the simulator, or the text of a scene or model."""

    model: OfferedModel  # its URI is the name of the file for a text
    text: str = ""


def dropped_world(name: str, content: bytes, folders: Sequence[str]) -> DroppedWorld:
    """Return the world of a file; texts are not stored.

    A compiled model or an archive is written below the first of the folders in which clients may
    name files; the simulator checks it, and what it names, as all files of clients.

    Raises:
        UserInputError: The file is no world, is too large, or cannot be stored.
    """
    path = Path(Path(name).name)
    suffix = path.suffix.lower()
    if suffix in _TEXTS:
        if len(content) > LARGEST_TEXT.of_client:
            raise UserInputError(
                f"'{path}' is too large: at most {LARGEST_TEXT.of_client} bytes of text are loaded"
            )
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise UserInputError(f"'{path}' is no text: {error.reason}") from None
        if not text.strip():
            raise UserInputError(f"'{path}' is empty")
        return DroppedWorld(OfferedModel(uri=path.name, description=DROPPED), text)
    if suffix not in _FILES:
        known = ", ".join((*_TEXTS, *_FILES))
        raise UserInputError(f"'{path}' is no world: the name must end with one of {known}")
    if len(content) > LARGEST:
        raise UserInputError(f"'{path}' is too large: at most {LARGEST} bytes are loaded")
    folder = next(filter(None, folders), None)
    if folder is None:
        raise UserInputError(
            f"'{path}' would have to be stored for the simulator, and there is no folder for it; "
            "the parameter 'client_folders' names one, e.g. -p client_folders:=\"[/data/robots]\""
        )
    stored = FileCache(Path(folder).expanduser().absolute() / DROPPED, suffix, LIMIT_BYTES)
    stem = re.sub(r"[^\w-]", "_", path.stem)[:64]
    try:
        written = stored.write(f"{stem}_{sha256(content).hexdigest()[:12]}", content)
    except OSError as error:
        raise UserInputError(f"'{path}' cannot be stored: {error}") from None
    return DroppedWorld(OfferedModel(uri=written.as_uri(), description=DROPPED))
