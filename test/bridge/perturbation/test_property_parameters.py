"""body.<name>.mass, geom.<name>.rgba etc., which are declared when they are set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perturbed_simulation import PerturbedSimulation

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.state.model_edits import gather

Act = Callable[..., PerturbedSimulation]
_RED = (1.0, 0.0, 0.0, 0.5)
_SHELL = "geom.box.shell.rgba"


def _names(perturbed: PerturbedSimulation) -> set[str]:
    return {name for name in perturbed.parameters.values if name.endswith((".rgba", ".size"))}


@pytest.mark.parametrize(
    ("parameter", "array", "element"),
    [
        ("geom.stone.rgba", "geom", "stone"),
        (_SHELL, "geom", "box/shell"),
        ("left.geom.bar.rgba", "geom", "left/bar"),
        ("right.site.tip.rgba", "site", "right/tip"),
        ("material.box.paint.rgba", "mat", "box/paint"),
    ],
)
def test_a_colour_is_set_in_the_model_and_read_back(
    perturb: Act, parameter: str, array: str, element: str
) -> None:
    perturbed = perturb()
    assert not perturbed.set({parameter: _RED})
    assert getattr(perturbed.simulation.model, array)(element).rgba == pytest.approx(_RED)
    assert perturbed[parameter] == _RED


def test_a_parameter_is_declared_when_it_is_set(perturb: Act) -> None:
    perturbed = perturb()
    assert not _names(perturbed)
    perturbed.set({_SHELL: _RED})
    assert _names(perturbed) == {_SHELL}


def test_integers_and_strings_are_accepted_as_on_a_command_line(perturb: Act) -> None:
    perturbed = perturb()
    assert not perturbed.set({_SHELL: [1, 0, 0, 1]})
    assert not perturbed.set({"geom.bulb.size": "[0.25]"})
    assert perturbed.simulation.model.geom("bulb").size[0] == 0.25


@pytest.mark.parametrize(
    ("parameter", "value", "why"),
    [
        (_SHELL, (2.0, 0.0, 0.0, 1.0), "it is a list of 4 numbers from 0 to 1"),
        ("geom.bulb.size", (0.0,), "it is a list of 1 number from 1e-06"),
        ("geom.floor.size", (1.0, 1.0, 1.0), "not found"),
        ("body.lamp.mass", 0.0, "it is a number from 1e-09"),
        ("body.lamp.inertia", (1.0, 1.0, 3.0), "one principal moment exceeds the sum"),
        ("body.lamp.ipos", (0.1, 0.0, 0.0), "use body/simple='false'"),
    ],
)
def test_an_invalid_value_is_refused_and_changes_nothing(
    perturb: Act, parameter: str, value: Any, why: str
) -> None:
    perturbed = perturb()
    model = perturbed.simulation.model
    before = gather(model)
    assert why in perturbed.set({parameter: value})
    assert np.array_equal(gather(model), before)


@pytest.mark.parametrize(
    ("parameter", "value", "array", "element"),
    [
        ("body.lamp.mass", 7.0, "body_mass", "lamp"),
        ("body.lamp.inertia", (0.2, 0.3, 0.4), "body_inertia", "lamp"),
        ("left.body.link.ipos", (0.1, 0.0, -0.1), "body_ipos", "left/link"),
        ("geom.bulb.friction", (0.5, 0.01, 0.001), "geom_friction", "bulb"),
        ("geom.bulb.solref", (-100.0, -10.0), "geom_solref", "bulb"),
    ],
)
def test_a_number_of_the_model_is_set_and_read_back(
    perturb: Act, parameter: str, value: Any, array: str, element: str
) -> None:
    perturbed = perturb()
    assert not perturbed.set({parameter: value})
    model = perturbed.simulation.model
    kind = model.body if array.startswith("body") else model.geom
    assert getattr(model, array)[kind(element).id] == pytest.approx(value)
    assert perturbed[parameter] == value
    perturbed.step(10)


def test_a_force_acts_where_it_did_after_the_centre_of_mass_has_moved(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.push("left/link", (5.0, 0.0, 0.0))
    perturbed.step()
    model, data = perturbed.simulation.model, perturbed.simulation.data
    link = model.body("left/link").id
    before = data.xfrc_applied[link, 4]
    assert not perturbed.set(
        {"left.body.link.ipos": (0.0, 0.0, float(model.body_ipos[link, 2]) + 0.3)}
    )
    perturbed.step()
    assert data.xfrc_applied[link, 4] - before == pytest.approx(-5.0 * 0.3, rel=0.05)


def test_an_unknown_element_is_refused_with_the_closest_name(perturb: Act) -> None:
    reason = perturb().set({"geom.bulp.rgba": _RED})
    assert "parameter 'geom.bulp.rgba' not found (did you mean 'geom.bulb.rgba'?)" in reason


def test_an_appearance_can_be_given_at_startup(perturb: Act) -> None:
    perturbed = perturb(geom__bulb__size=[0.3], geom__bulb__rgba=list(_RED))
    assert perturbed.simulation.model.geom("bulb").rbound[0] == 0.3
    assert perturbed.simulation.model.geom("bulb").rgba == pytest.approx(_RED)
    with pytest.raises(UserInputError, match="not found"):
        perturb(geom__bulp__size=[0.3])


def test_the_appearance_is_kept_when_entities_are_spawned_or_deleted(perturb: Act) -> None:
    perturbed = perturb()
    perturbed.set({_SHELL: _RED, "geom.bulb.size": [0.5]})
    text = """
    <mujoco>
      <worldbody><body><freejoint/><geom name="skin" size=".1"/></body></worldbody>
    </mujoco>
    """
    ball = part_from_text(text, name="ball")
    perturbed.change(lambda assembly: rebuild(assembly, add=[ball]))
    model = perturbed.simulation.model
    assert model.geom("box/shell").rgba == pytest.approx(_RED)
    assert model.geom("bulb").rbound[0] == 0.5
    leaf = np.flatnonzero(model.bvh_nodeid == model.geom("bulb").id)[0]
    assert model.bvh_aabb[leaf, 3:] == pytest.approx([0.5, 0.5, 0.5])
    assert not perturbed.set({"geom.ball.skin.rgba": _RED})
    assert model.geom("ball/skin").rgba == pytest.approx(_RED)
    perturbed.change(lambda assembly: rebuild(assembly, remove=["box"]))
    assert _names(perturbed) == {"geom.bulb.size", "geom.ball.skin.rgba"}
    assert "not found" in perturbed.set({_SHELL: _RED})


def test_a_loaded_world_has_its_own_appearance(perturb: Act, scene: Path) -> None:
    perturbed = perturb()
    perturbed.set({_SHELL: _RED})
    perturbed.change(lambda _assembly: assemble(load_scene(str(scene))), fresh=True)
    assert not _names(perturbed)
    assert perturbed.simulation.model.geom("box/shell").rgba[1] == pytest.approx(0.5)


def test_gains_of_servos_are_set_and_those_of_torque_motors_are_elsewhere(
    perturb: Act, tmp_path: Path
) -> None:
    path = tmp_path / "servos.xml"
    joints = "".join(
        f"<body pos='{i} 0 1'><joint name='j{i}' axis='0 1 0'/><geom size='.1'/></body>"
        for i in range(2)
    )
    path.write_text(
        f"<mujoco><worldbody>{joints}</worldbody><actuator><position name='servo' joint='j0' "
        "kp='50' kv='5'/><motor name='motor' joint='j1'/></actuator></mujoco>"
    )
    perturbed = perturb(path)
    assert not perturbed.set({"actuator.servo.kp": 80.0, "actuator.servo.kv": 8.0})
    servo = perturbed.simulation.model.actuator("servo")
    assert (servo.gainprm[0], servo.biasprm[1], servo.biasprm[2]) == (80.0, -80.0, -8.0)
    assert "not found" in perturbed.set({"actuator.motor.kp": 1.0})
    perturbed.step(10)


def test_an_error_names_the_parameter_as_the_user_set_it(perturb: Act) -> None:
    reason = perturb().set({"left.body.link.inertia": (1.0, 1.0, 3.0)})
    assert reason.startswith("parameter 'left.body.link.inertia' cannot be [1.0, 1.0, 3.0]:")
    assert "parameter 'left.joint.hinge.range' cannot be" in perturb().set(
        {"left.joint.hinge.range": (1.0, -1.0)}
    )


def test_a_parameter_of_two_elements_is_refused_with_both_names(
    perturb: Act, tmp_path: Path
) -> None:
    path = tmp_path / "names.xml"
    path.write_text(
        "<mujoco><worldbody><body><joint name='j'/><geom name='a.b' size='.1'/>"
        "<geom name='a/b' size='.2'/></body></worldbody></mujoco>"
    )
    perturbed = perturb(path)
    assert "2 elements of the model, 'a.b' and 'a/b'" in perturbed.set({"geom.a.b.size": [0.3]})
    assert perturbed.simulation.model.geom_size[:, 0].tolist() == [0.1, 0.2]
    with pytest.raises(UserInputError, match="rename all but one of them"):
        perturb(path, geom__a__b__margin=0.1)


def test_a_reset_that_restores_numbers_shows_them(perturb: Act) -> None:
    perturbed = perturb(body__lamp__mass=2.0)
    assert not perturbed.set({"body.lamp.mass": 5.0, "geom.bulb.size": [0.5]})
    assert not perturbed.set({"reset_restores_numbers": True})
    perturbed.reset()
    assert perturbed.simulation.model.body("lamp").mass[0] == perturbed["body.lamp.mass"] == 2.0
    assert perturbed["geom.bulb.size"] == (0.1,)
    perturbed.reset()
    assert perturbed["body.lamp.mass"] == 2.0


def test_lights_and_the_angle_of_view_of_cameras_are_set(perturb: Act, tmp_path: Path) -> None:
    path = tmp_path / "lit.xml"
    path.write_text(
        "<mujoco><worldbody><light name='sun' pos='0 0 3'/><camera name='eye' fovy='60'/>"
        "<camera name='lens' sensorsize='.01 .01' focal='.01 .01' resolution='8 8'/>"
        "<body><joint name='j'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    perturbed, sun = perturb(path), "light.sun."
    values = {f"{sun}diffuse": (1.0, 0.5, 0.0), f"{sun}pos": (1.0, 2.0, 3.0)}
    assert not perturbed.set(values | {f"{sun}dir": (0.0, 1.0, -1.0), "camera.eye.fovy": 90.0})
    model, data = perturbed.simulation.model, perturbed.simulation.data
    perturbed.step()
    assert model.light_diffuse[0].tolist() == [1.0, 0.5, 0.0]
    assert data.light_xpos[0].tolist() == [1.0, 2.0, 3.0]
    assert data.light_xdir[0] == pytest.approx([0.0, 0.5**0.5, -(0.5**0.5)])
    assert model.cam_fovy[0] == 90.0
    assert "a direction is not zero" in perturbed.set({f"{sun}dir": (0.0, 0.0, 0.0)})
    assert "not found" in perturbed.set({"camera.lens.fovy": 90.0})


def test_a_thousand_numbers_are_set_together_or_not_at_all(perturb: Act, tmp_path: Path) -> None:
    path = tmp_path / "many.xml"
    bodies = "".join(
        f"<body name='b{i}' pos='{i} 0 0'><joint name='j{i}'/><geom name='g{i}' size='.1'/></body>"
        for i in range(250)
    )
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    perturbed = perturb(path)
    values: dict[str, Any] = {}
    for i in range(250):
        values |= {f"body.b{i}.mass": 2.0, f"geom.g{i}.friction": [0.5, 0.01, 0.001]}
        values |= {f"joint.j{i}.damping": 3.0, f"joint.j{i}.armature": 4.0}
    before = gather(perturbed.simulation.model)
    assert "from 0" in perturbed.set(values | {"joint.j249.damping": -1.0})
    assert np.array_equal(gather(perturbed.simulation.model), before)
    assert not perturbed.set(values)
    model = perturbed.simulation.model
    assert (model.body_mass[1:] == 2.0).all()
    assert (model.geom_friction == [0.5, 0.01, 0.001]).all()
    assert (model.dof_damping == 3.0).all()
    assert (model.dof_armature == 4.0).all()
