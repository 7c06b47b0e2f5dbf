"""The ``<mujoco>`` extension of a URDF: sections of MJCF beside the links and joints."""

import logging
import xml.etree.ElementTree as ET

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.urdf.importing.urdf_file import Urdf

SECTIONS = (
    "compiler",
    "option",
    "size",
    "statistic",
    "default",
    "contact",
    "equality",
    "tendon",
    "actuator",
    "sensor",
    "keyframe",
    "custom",
)
"""Sections that are read; they name links and joints of the URDF, and no file."""

# Settings of <compiler> that the importer decides.
_OWN_SETTINGS = (
    "angle",
    "assetdir",
    "discardvisual",
    "eulerseq",
    "fusestatic",
    "meshdir",
    "strippath",
    "texturedir",
)

_LOGGER = logging.getLogger(__name__)


def extension_spec(urdf: Urdf) -> mujoco.MjSpec:
    """Return a spec without bodies that has the sections of the ``<mujoco>`` extension.

    A warning names the other elements.

    Raises:
        UserInputError: MuJoCo rejects a section, or one includes a file.
    """
    root = ET.Element("mujoco", model=urdf.name)
    # Stiff servos, and mimics between light links, need an implicit integrator.
    ET.SubElement(root, "option", integrator="discrete")
    ignored: list[str] = []
    for element in urdf.mujoco:
        if element.tag not in SECTIONS:
            ignored.append(f"<{element.tag}>")
            continue
        if next(element.iter("include"), None) is not None:
            raise UserInputError(
                f"{urdf.path}: in its <mujoco> extension: <{element.tag}> includes a file; "
                "write its content in its place"
            )
        own = _OWN_SETTINGS if element.tag == "compiler" else ()
        settings = {key: value for key, value in element.items() if key not in own}
        ET.SubElement(root, element.tag, settings).extend(element)
    if ignored:
        _LOGGER.warning(
            "%s: elements of its <mujoco> extension are ignored: %s; these are read: %s",
            urdf.path,
            ", ".join(ignored),
            ", ".join(SECTIONS),
        )
    try:
        spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
    except (ValueError, mujoco.FatalError) as error:
        message = " ".join(str(error).removeprefix("Error: ").split())
        raise UserInputError(f"{urdf.path}: in its <mujoco> extension: {message}") from error
    spec.compiler.degree = False
    return spec
