"""MuJoCo engine plugins of a scene, in addition to those that MuJoCo bundles."""

from collections.abc import Iterable
from pathlib import Path

import mujoco

from mujoco_ros.model.errors import NativeCodeError, UserInputError

_SUFFIXES = {".so", ".dylib", ".dll"}
_loaded: dict[Path, None] = {}


def load_plugins(folder: Path) -> None:
    """Load every plugin library of a folder, once per process; it is native code of the user."""
    load_libraries(_libraries(folder))


def loaded_libraries() -> list[str]:
    """Return the plugin libraries that this process has loaded."""
    return [str(library) for library in _loaded]


def load_libraries(libraries: Iterable[Path | str]) -> None:
    """Load plugin libraries, once per process."""
    for library in map(Path, libraries):
        if library.resolve() in _loaded:
            continue
        try:
            mujoco.mj_loadPluginLibrary(str(library))
        except (mujoco.FatalError, RuntimeError, ValueError) as error:
            message = " ".join(str(error).split())
            raise UserInputError(f"plugin '{library}' cannot be loaded: {message}") from error
        _loaded[library.resolve()] = None


def check_plugins_loaded(folder: Path) -> None:
    """Reject a folder with plugins that this process has not loaded."""
    for library in _libraries(folder):
        if library.resolve() not in _loaded:
            raise NativeCodeError(
                f"plugin '{library}' is not loaded: only the scene that the simulator starts with "
                "may load native code"
            )


def _libraries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UserInputError(f"plugin folder '{folder}' does not exist")
    libraries = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    if not libraries:
        raise UserInputError(
            f"plugin folder '{folder}' has no library ({', '.join(sorted(_SUFFIXES))})"
        )
    return libraries
