"""MuJoCo engine plugins of a scene, in addition to the plugins that MuJoCo bundles."""

import ctypes
import math
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import mujoco

from mujoco_ros.model.errors import NativeCodeError, UserInputError

_SUFFIXES = {".so", ".dylib", ".dll"}
_LINKED = re.compile(rb"libmujoco\.(?:so\.)?(\d+\.\d+\.\d+)(?:\.dylib)?\0")
"""The library that a plugin is linked with, as its dynamic section names it."""
_COMPILED = re.compile(rb"mujoco_ros: compiled for MuJoCo header (\d+)\0")
"""The `mjVERSION_HEADER` that the template in examples/engine_plugin writes into a library."""
_UNTOLD = (b"mjp_registerDecoder", b"mjCOLLISIONFUNC")
"""What a library may use without a trace in the engine: decoders, and the table of functions that
collide pairs of geoms."""
_loaded: dict[Path, None] = {}
_INHERITED = "MUJOCO_ROS_PLUGINS"
"""Variable with the libraries that child processes load, so that they can read the same models."""
ATTRIBUTE_WIDTH = 24
"""Largest number of characters of a number with 17 significant digits."""
_INT, _VOID = ctypes.c_int, ctypes.c_void_p


class EnginePlugin(ctypes.Structure):
    """The beginning of the engine's ``mjpPlugin``: what describes and creates an instance."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("nattribute", _INT),
        ("attributes", ctypes.POINTER(ctypes.c_char_p)),
        ("capabilityflags", _INT),
        ("needstage", _INT),
        ("nstate", ctypes.CFUNCTYPE(_INT, _VOID, _INT)),
        ("nsensordata", ctypes.CFUNCTYPE(_INT, _VOID, _INT, _INT)),
        ("init", ctypes.CFUNCTYPE(_INT, _VOID, _VOID, _INT)),
        ("destroy", ctypes.CFUNCTYPE(None, _VOID, _INT)),
    )


def _engine() -> ctypes.CDLL:
    """Return MuJoCo's library, which is loaded already."""
    (path,) = Path(mujoco.__file__).parent.glob("libmujoco*.[sd][oy]*")
    library = ctypes.CDLL(str(path))
    library.mjp_getPluginAtSlot.restype = ctypes.c_void_p
    return library


ENGINE = _engine()


def load_plugins(folder: Path) -> None:
    """Load every plugin library of a folder, once per process; it is native code of the user."""
    load_libraries(_libraries(folder))


def load_inherited() -> None:
    """Load the libraries of the parent process, in the same order: a model refers to it."""
    load_libraries(filter(None, os.environ.get(_INHERITED, "").split(os.pathsep)))


def load_libraries(libraries: Iterable[Path | str]) -> None:
    """Load plugin libraries, once per process, also for the child processes that start later."""
    for library in (Path(named).resolve() for named in libraries):
        if library in _loaded:
            continue
        _check_version(library)
        before = registered_plugins(), ENGINE.mjp_providerCount()
        try:
            mujoco.mj_loadPluginLibrary(str(library))
        except (mujoco.FatalError, RuntimeError, ValueError) as error:
            message = " ".join(str(error).split())
            raise UserInputError(f"plugin '{library}' cannot be loaded: {message}") from error
        registers = (registered_plugins(), ENGINE.mjp_providerCount()) != before
        if not registers and not any(map(library.read_bytes().count, _UNTOLD)):
            raise UserInputError(
                f"plugin '{library}' registers no engine plugin, resource provider or decoder; it "
                "must call mjp_registerPlugin, mjp_registerProvider or mjp_registerDecoder, or set "
                "entries of mjCOLLISIONFUNC, when it is loaded, in mjPLUGIN_LIB_INIT"
            )
        _loaded[library] = None
        os.environ[_INHERITED] = os.pathsep.join(map(str, _loaded))


def registered_plugins() -> tuple[str, ...]:
    """Return the names of the engine plugins of this process, in the order of their slots."""
    plugins = map(plugin_at, range(ENGINE.mjp_pluginCount()))
    return tuple((plugin.name or b"").decode(errors="replace") for plugin in plugins)


def plugin_at(slot: int) -> EnginePlugin:
    """Return the engine plugin of a slot, as in ``MjModel.plugin``."""
    return EnginePlugin.from_address(ENGINE.mjp_getPluginAtSlot(slot))


def reserve_attributes(spec: mujoco.MjSpec) -> None:
    """Lengthen the numbers among the attributes by spaces, so that others fit into the model.

    The spaces come first: what reads a number skips them.
    """
    for instance in spec.plugins:
        config = dict(instance.config)
        wider = {
            key: text.rjust(ATTRIBUTE_WIDTH)
            for key, text in config.items()
            if number_of(text) is not None
        }
        if wider:
            instance.config = config | wider


def number_of(text: str) -> float | None:
    """Return the finite number that an attribute is; None if it is something else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def attributes_of(model: mujoco.MjModel, instance: int) -> Iterator[tuple[str, slice]]:
    """Yield the attributes of a plugin instance, and where in ``plugin_attr`` their text is.

    The text ends with a zero, which is not included.
    """
    plugin = plugin_at(int(model.plugin[instance]))
    text, begin = model.plugin_attr.tobytes(), int(model.plugin_attradr[instance])
    for index in range(plugin.nattribute):
        end = text.index(b"\0", begin)
        yield (plugin.attributes[index] or b"").decode(errors="replace"), slice(begin, end)
        begin = end + 1


def used_plugins(model: mujoco.MjModel) -> dict[str, int]:
    """Return the slots of the engine plugins that a model refers to, by name."""
    names = registered_plugins()
    return {names[slot]: slot for slot in sorted(set(model.plugin.tolist()))}


def check_plugin_slots(model: mujoco.MjModel, where: str) -> None:
    """Reject a model from a file with plugins that this process has not loaded; MuJoCo would crash.

    A compiled model contains no names of plugins, only the order in which they were loaded.
    """
    names = registered_plugins()
    for slot in model.plugin.tolist():
        if not 0 <= slot < len(names):
            raise UserInputError(
                f"{where} needs an engine plugin that is not loaded, number {slot + 1} of those "
                f"that were loaded when it was compiled; here there are {len(names)}; name the "
                "folder of its library under 'plugins' in a scene, or start with its MJCF"
            )


def check_plugins_registered(used: Mapping[str, int], where: str) -> None:
    """Reject a compiled model whose plugins this process does not have in the same slots.

    `used` are the model's `used_plugins` in the process that compiled it.
    """
    names = registered_plugins()
    for name, slot in used.items():
        if not (slot < len(names) and names[slot] == name):
            raise UserInputError(
                f"{where} needs the engine plugin '{name}', which is not loaded here; load its "
                f"folder first, with `load_plugins` of {__name__}"
            )


def required_version(library: Path) -> str | None:
    """Return the MuJoCo version that a library was built for, without loading it, if it has one.

    It names the MuJoCo library that it is linked with, and may name the version of the headers that
    it was compiled with. The version that differs from the running one counts.
    """
    # An empty file cannot be mapped, and a folder cannot be opened.
    with suppress(OSError, ValueError), library.open("rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            linked = [found.decode() for found in _LINKED.findall(content)]
            headers = [_version(int(found)) for found in _COMPILED.findall(content)]
        found, running = [*linked, *headers], mujoco.mj_versionString()
        return next((version for version in found if version != running), next(iter(found), None))
    return None


def _version(header: int) -> str:
    """Return the version of an `mjVERSION_HEADER`: 4000000 is 4.0.0, and 336 was 3.3.6."""
    if header < 1000:
        return ".".join(f"{header:03}")
    return f"{header // 1_000_000}.{header // 1000 % 1000}.{header % 1000}"


def _check_version(library: Path) -> None:
    """Reject a library for another MuJoCo, which would read the structures of this one wrongly."""
    version, running = required_version(library), mujoco.mj_versionString()
    if version not in (None, running):
        raise UserInputError(
            f"plugin '{library}' was built for MuJoCo {version}, and this is MuJoCo {running}; "
            "build it again"
        )


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
