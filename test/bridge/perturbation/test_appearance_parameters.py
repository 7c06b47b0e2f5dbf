"""geom.<name>.rgba, geom.<name>.size and the like: they come into being when they are set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acted import Acted

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text

Act = Callable[..., Acted]
_RED = (1.0, 0.0, 0.0, 0.5)
_SHELL = "geom.box.shell.rgba"


def _names(acted: Acted) -> set[str]:
    return {name for name in acted.parameters.values if name.endswith((".rgba", ".size"))}


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
    act: Act, parameter: str, array: str, element: str
) -> None:
    acted = act()
    assert not acted.set({parameter: _RED})
    assert getattr(acted.simulation.model, array)(element).rgba == pytest.approx(_RED)
    assert acted[parameter] == _RED


def test_a_parameter_has_no_value_before_it_is_set(act: Act) -> None:
    acted = act()
    assert not _names(acted)
    acted.set({_SHELL: _RED})
    assert _names(acted) == {_SHELL}


def test_a_size_is_set_with_its_bounding_volumes(act: Act) -> None:
    acted = act()
    assert not acted.set({"geom.bulb.size": [0.5]})
    geom = acted.simulation.model.geom("bulb")
    assert geom.size[0] == geom.rbound[0] == 0.5
    assert acted["geom.bulb.size"] == (0.5,)


def test_a_new_size_does_not_change_the_state(act: Act) -> None:
    acted = act()
    acted.push("lamp", (1.0, 0.0, 0.0))
    acted.step(50)
    qpos, qvel = acted.simulation.data.qpos.copy(), acted.simulation.data.qvel.copy()
    acted.set({"geom.bulb.size": [0.5]})
    assert np.array_equal(acted.simulation.data.qpos, qpos)
    assert np.array_equal(acted.simulation.data.qvel, qvel)


def test_integers_and_strings_are_accepted_as_on_a_command_line(act: Act) -> None:
    acted = act()
    assert not acted.set({_SHELL: [1, 0, 0, 1]})
    assert not acted.set({"geom.bulb.size": "[0.25]"})
    assert acted.simulation.model.geom("bulb").size[0] == 0.25


@pytest.mark.parametrize(
    ("parameter", "value", "why"),
    [
        (_SHELL, (2.0, 0.0, 0.0, 1.0), "it is a list of 4 numbers from 0 to 1"),
        (_SHELL, (1.0, 0.0, 0.0), "it is a list of 4 numbers from 0 to 1"),
        (_SHELL, (1.0, 0.0, 0.0, float("nan")), "it is a list of 4 numbers from 0 to 1"),
        ("geom.bulb.size", (0.0,), "it is a list of 1 numbers from 1e-06"),
        ("geom.bulb.size", (0.1, 0.1), "it is a list of 1 numbers"),
        ("geom.floor.size", (1.0, 1.0, 1.0), "not found"),
    ],
)
def test_an_invalid_value_is_refused_and_changes_nothing(
    act: Act, parameter: str, value: Any, why: str
) -> None:
    acted = act()
    model = acted.simulation.model
    colours, sizes = model.geom_rgba.copy(), model.geom_size.copy()
    assert why in acted.set({parameter: value})
    assert np.array_equal(model.geom_rgba, colours)
    assert np.array_equal(model.geom_size, sizes)


def test_an_unknown_element_is_refused_with_the_closest_name(act: Act) -> None:
    reason = act().set({"geom.bulp.rgba": _RED})
    assert "parameter 'geom.bulp.rgba' not found (did you mean 'geom.bulb.rgba'?)" in reason


def test_an_appearance_can_be_given_at_startup(act: Act) -> None:
    acted = act(geom__bulb__size=[0.3], geom__bulb__rgba=list(_RED))
    assert acted.simulation.model.geom("bulb").rbound[0] == 0.3
    assert acted.simulation.model.geom("bulb").rgba == pytest.approx(_RED)
    with pytest.raises(UserInputError, match="not found"):
        act(geom__bulp__size=[0.3])


def test_a_reset_does_not_change_the_appearance(act: Act) -> None:
    acted = act()
    acted.set({_SHELL: _RED})
    acted.reset()
    assert acted.simulation.model.geom("box/shell").rgba == pytest.approx(_RED)


def test_the_appearance_is_kept_when_entities_are_spawned_or_deleted(act: Act) -> None:
    acted = act()
    acted.set({_SHELL: _RED, "geom.bulb.size": [0.5]})
    text = """
    <mujoco>
      <worldbody><body><freejoint/><geom name="skin" size=".1"/></body></worldbody>
    </mujoco>
    """
    ball = part_from_text(text, name="ball")
    acted.change(lambda assembly: rebuild(assembly, add=[ball]))
    model = acted.simulation.model
    assert model.geom("box/shell").rgba == pytest.approx(_RED)
    assert model.geom("bulb").rbound[0] == 0.5
    leaf = np.flatnonzero(model.bvh_nodeid == model.geom("bulb").id)[0]
    assert model.bvh_aabb[leaf, 3:] == pytest.approx([0.5, 0.5, 0.5])
    assert not acted.set({"geom.ball.skin.rgba": _RED})
    assert model.geom("ball/skin").rgba == pytest.approx(_RED)
    acted.change(lambda assembly: rebuild(assembly, remove=["box"]))
    assert _names(acted) == {"geom.bulb.size", "geom.ball.skin.rgba"}
    assert "not found" in acted.set({_SHELL: _RED})


def test_a_loaded_world_has_its_own_appearance(act: Act, scene: Path) -> None:
    acted = act()
    acted.set({_SHELL: _RED})
    acted.change(lambda _assembly: assemble(load_scene(str(scene))), fresh=True)
    assert not _names(acted)
    assert acted.simulation.model.geom("box/shell").rgba[1] == pytest.approx(0.5)
