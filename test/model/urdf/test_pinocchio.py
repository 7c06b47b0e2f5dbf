"""Imported and exported URDFs have the kinematics and dynamics that Pinocchio computes for them."""

import logging
import os
import xml.etree.ElementTree as ET
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import root_element
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.urdf.importing.importer import WORLD, import_urdf

PACKAGE = "example-robot-data"
SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
CONFIGURATIONS = 5
MJCF_PACKAGES = ("gymnasium", "gymnasium_robotics")


def missing(package: str) -> None:
    report = pytest.fail if os.environ.get("CI") else pytest.skip
    report(f"{package} is not installed; requirements/models.txt has it")


def example_robots() -> list[Path]:
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    found = [Path(str(it.locate())).resolve() for it in files if it.suffix == ".urdf"]
    return sorted(found)


def pinocchio():
    if find_spec("pinocchio") is None:
        missing("pin")
    import pinocchio

    return pinocchio


ROBOTS = example_robots()
REFUSED = {
    "alex_psyonic_hands": "mimicked joint 'index_q1' not found",
    "romeo_laas_small": r"mesh 'file:///usr/Romeo/.*' not found",
    "ur3": "the robot has no link",
}
"""Robots that are wrong themselves, and the reason."""


def test_the_example_robots_are_installed():
    if not ROBOTS:
        missing(PACKAGE)
    assert len(ROBOTS) == 69


def without_visuals(path: Path) -> ET.Element:
    """Return a URDF without visuals, and without inertias that have no mass.

    The import ignores the latter, with a warning.
    """
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    for link in root.findall("link"):
        massless = [
            it for it in link.findall("inertial") if not float(it.find("mass").get("value"))
        ]
        for element in (*link.findall("visual"), *massless):
            link.remove(element)
    return root


def corrected(root: ET.Element, model: mujoco.MjModel, links: set[str]) -> str:
    """Return a URDF with the masses and inertias that the import reports to have changed."""
    for link in root.findall("link"):
        name = link.get("name", "")
        if name not in links:
            continue
        for inertial in link.findall("inertial"):
            link.remove(inertial)
        body = model.body(name)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, body.iquat)
        turn = turn.reshape(3, 3)
        tensor = turn @ np.diag(body.inertia) @ turn.T
        inertial = ET.SubElement(link, "inertial")
        ET.SubElement(inertial, "origin", xyz=" ".join(map(repr, body.ipos.tolist())))
        ET.SubElement(inertial, "mass", value=repr(float(body.mass[0])))
        entries = {"xx": (0, 0), "xy": (0, 1), "xz": (0, 2), "yy": (1, 1), "yz": (1, 2)}
        entries["zz"] = (2, 2)
        values = {f"i{key}": repr(float(tensor[at])) for key, at in entries.items()}
        ET.SubElement(inertial, "inertia", values)
    return ET.tostring(root, encoding="unicode")


def changed_links(text: str) -> set[str]:
    """Return the links that warnings name whose mass or inertia the import changes."""
    found: set[str] = set()
    for line in text.splitlines():
        if "moving links without mass" in line or "links with " in line:
            listing = line.rsplit(": ", 1)[1].split(", ")
            found |= {name.partition(" (")[0] for name in listing}
    return found


def is_body(model: mujoco.MjModel, name: str) -> bool:
    return mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0


class Pair:
    """A robot in MuJoCo and in Pinocchio, in the same configurations."""

    def __init__(self, model: mujoco.MjModel, urdf: str) -> None:
        self.pin = pinocchio()
        self.model, self.data = model, mujoco.MjData(model)
        self.reference = self.pin.buildModelFromXML(urdf)
        self.result = self.reference.createData()
        self.q = self.pin.neutral(self.reference)
        joints = {
            model.joint(j).name: j for j in range(model.njnt) if int(model.jnt_type[j]) in SCALAR
        }
        self.joints = [
            (joints[name], self.reference.joints[i])
            for i, name in enumerate(self.reference.names)
            if i and name in joints
        ]
        self.left_out = set(self.reference.names[1:]) - set(joints)
        self.dofs = [int(model.jnt_dofadr[j]) for j, _ in self.joints]
        self.columns = [joint.idx_v for _, joint in self.joints]

    def move(self, random: np.random.Generator) -> None:
        """Move both to the same random configuration, at rest."""
        for joint, other in self.joints:
            hinge = self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
            position = random.uniform(-2.0, 2.0) if hinge else random.uniform(-0.3, 0.3)
            self.data.qpos[self.model.jnt_qposadr[joint]] = position
            turns = other.nq == 2
            values = [np.cos(position), np.sin(position)] if turns else [position]
            self.q[other.idx_q : other.idx_q + other.nq] = values
        mujoco.mj_forward(self.model, self.data)

    def poses(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the pose of each link in Pinocchio."""
        self.pin.framesForwardKinematics(self.reference, self.result, self.q)
        return {
            frame.name: (self.result.oMf[i].translation, self.result.oMf[i].rotation)
            for i, frame in enumerate(self.reference.frames)
            if frame.type == self.pin.FrameType.BODY
        }


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_a_urdf_that_is_wrong_itself_is_refused_in_one_sentence(name: str, reason: str):
    if not ROBOTS:
        missing(PACKAGE)
    (path,) = (path for path in ROBOTS if path.stem == name)
    with pytest.raises(UserInputError, match=reason) as error:
        import_urdf(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "path", [it for it in ROBOTS if it.stem not in REFUSED], ids=lambda path: path.stem
)
def test_an_imported_urdf_has_the_dynamics_of_pinocchio(path: Path, caplog):
    pinocchio()
    caplog.set_level(logging.WARNING)
    root = without_visuals(path)
    model = import_urdf(path, ET.tostring(root, encoding="unicode")).spec.compile()
    changed = changed_links(caplog.text)
    pair = Pair(model, corrected(root, model, changed))
    assert not pair.left_out
    assert len(pair.joints) == model.njnt

    moving = sum(inertia.mass for inertia in list(pair.reference.inertias)[1:])
    fixed = model.body_weldid == 0
    assert model.body_mass[~fixed].sum() == pytest.approx(moving, rel=1e-9, abs=1e-12)

    random = np.random.default_rng(1)
    mass = np.zeros((model.nv, model.nv))
    for _ in range(CONFIGURATIONS):
        pair.move(random)
        for name, (position, rotation) in pair.poses().items():
            if name == WORLD or not is_body(model, name):
                continue  # a massless link between the axes of a joint is no body
            body = pair.data.body(name)
            np.testing.assert_allclose(body.xpos, position, atol=1e-9)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), rotation, atol=1e-9)
        if not model.nv:
            continue
        gravity = pair.pin.computeGeneralizedGravity(pair.reference, pair.result, pair.q)
        np.testing.assert_allclose(
            pair.data.qfrc_bias[pair.dofs],
            gravity[pair.columns],
            rtol=1e-9,
            atol=1e-9 * max(abs(gravity).max(), 1e-3),
        )
        mujoco.mj_fullM(model, pair.data, mass)
        mass -= np.diag(model.dof_armature)
        expected = pair.pin.crba(pair.reference, pair.result, pair.q)
        expected = np.triu(expected) + np.triu(expected, 1).T
        np.testing.assert_allclose(
            mass[np.ix_(pair.dofs, pair.dofs)],
            expected[np.ix_(pair.columns, pair.columns)],
            rtol=1e-9,
            atol=1e-9 * abs(expected).max(),
        )


def mjcf_models() -> list[Path]:
    """Return the installed MJCF files that are whole models."""
    found = []
    for package in MJCF_PACKAGES:
        spec = find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            found += [
                path
                for path in sorted(Path(location).rglob("*.xml"))
                if root_element(path.read_text(encoding="utf-8"))[0] == "mujoco"
            ]
    return found


def has_joints(path: Path) -> bool:
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:  # a part that other files include
        return False
    return bool(np.isin(model.jnt_type, SCALAR).any())


def test_an_exported_description_has_the_kinematics_of_the_mjcf():
    pinocchio()
    models = [path for path in mjcf_models() if has_joints(path)]
    if not models:
        missing(" and ".join(MJCF_PACKAGES))
    compared = 0
    for path in models:
        assembly = assemble(load_scene(str(path)))
        for description in descriptions(assembly, lay_out(assembly)):
            pair = Pair(assembly.model, description.urdf)
            random = np.random.default_rng(1)
            for _ in range(CONFIGURATIONS):
                pair.move(random)
                compared += compare_relative_poses(pair, description.urdf, description.root)
    assert compared > 1000


def links_on_scalar_joints(urdf: str, root: str) -> set[str]:
    """Return the links that no floating joint separates from the root."""
    joints = ET.fromstring(urdf).findall("joint")
    reached = {root}
    for _ in joints:
        reached |= {
            joint.find("child").get("link")
            for joint in joints
            if joint.get("type") != "floating" and joint.find("parent").get("link") in reached
        }
    return reached - {root}


def compare_relative_poses(pair: Pair, urdf: str, root: str) -> int:
    """Compare the poses of links in the frame of their root; return how many."""
    poses = pair.poses()
    names = [it for it in links_on_scalar_joints(urdf, root) if is_body(pair.model, it)]
    origin, turn = np.zeros(3), np.eye(3)
    if is_body(pair.model, root):
        origin, turn = pair.data.body(root).xpos, pair.data.body(root).xmat.reshape(3, 3)
    base, base_turn = poses[root]
    for name in names:
        position, rotation = poses[name]
        body = pair.data.body(name)
        np.testing.assert_allclose(
            turn.T @ (body.xpos - origin), base_turn.T @ (position - base), atol=1e-9
        )
        np.testing.assert_allclose(
            turn.T @ body.xmat.reshape(3, 3), base_turn.T @ rotation, atol=1e-9
        )
    return len(names)
