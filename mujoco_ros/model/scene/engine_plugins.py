"""MuJoCo engine plugins from folders a scene names (MuJoCo itself loads the bundled ones)."""

from pathlib import Path

import mujoco

from mujoco_ros.model.errors import NativeCodeError, UserInputError

_SUFFIXES = {".so", ".dylib", ".dll"}
_loaded: set[Path] = set()


def load_plugins(folder: Path) -> None:
    """Load every engine plugin library of a folder, once per process.

    A plugin is native code that runs with the user's rights; only folders that the scene's author
    names are loaded.

    Raises:
        ModelError: The folder does not exist, has no library, or one cannot be loaded.
    """
    for library in _libraries(folder):
        if library.resolve() in _loaded:
            continue
        try:
            mujoco.mj_loadPluginLibrary(str(library))
        except (mujoco.FatalError, RuntimeError, ValueError) as error:
            message = " ".join(str(error).split())
            raise UserInputError(f"plugin '{library}' cannot be loaded: {message}") from error
        _loaded.add(library.resolve())


def check_loaded(folder: Path) -> None:
    """Refuse a folder whose plugins this process has not loaded yet.

    Raises:
        NativeCodeError: It has one that is not loaded.
        ModelError: The folder does not exist, or has no library.
    """
    for library in _libraries(folder):
        if library.resolve() not in _loaded:
            raise NativeCodeError(
                f"plugin '{library}' is not loaded: only the scene that the simulator starts with "
                "may bring native code"
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
