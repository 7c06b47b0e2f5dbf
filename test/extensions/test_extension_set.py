"""Extensions of a package outside of the repository, in a simulation without ROS."""

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extension_package import install_samples, write_package

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.interface import load_extension
from mujoco_ros.extensions.runner import ExtensionRunner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import ExtensionConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import Keyframes

BOX = """<mujoco model="box"><worldbody><body pos="0 0 3"><freejoint/><geom size=".1"/></body>
</worldbody></mujoco>"""
ROBOT = """<mujoco model="r"><worldbody><body name="link_1" pos="2 0 1"><joint name="j"/>
<geom size=".1" pos=".1 0 0"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""


class Run:
    """The arm with extensions."""

    def __init__(self, *extensions: ExtensionConfig, seed: int = 0) -> None:
        scene = replace(load_scene("arm"), extensions=extensions)
        self.simulation = Simulation(scene, seed=seed)
        self.set = ExtensionSet(self.simulation)

    @property
    def runner(self) -> ExtensionRunner:
        return self.set.runners[0]

    @property
    def extension(self) -> Any:
        return self.runner.extension

    def step(self, steps: int) -> np.ndarray:
        """Return the positions after some steps, and the state of the extensions."""
        for _ in range(steps):
            self.set.before_step()
            assert self.simulation.step()
            self.set.after_step()
        states = self.simulation.plant.extensions.arrays.values()
        return np.concatenate([self.simulation.data.qpos[:12], *states])

    def change(self, **parts: Any) -> None:
        """Change the model as `ModelSwitch` does."""
        assembly = rebuild(self.simulation.assembly, **parts)
        plant = self.simulation.build_plant(assembly)
        self.set.build(plant)
        self.simulation.switch_model(plant)
        self.set.commit()


@pytest.fixture(autouse=True, scope="module")
def _samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        install_samples(tmp_path_factory.mktemp("installed") / "site", patch)
        yield
    load_extension.cache_clear()


@pytest.fixture
def _forget() -> Iterator[None]:
    """Look for installed extensions again after a test."""
    yield
    importlib.invalidate_caches()
    load_extension.cache_clear()


def push(**settings: Any) -> ExtensionConfig:
    settings = {"body": "forearm_link", "force": 20.0, **settings}
    return ExtensionConfig(use="push", robot="arm", settings=settings)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("puhs", r"'puhs' not found \(did you mean 'push'\?\); there are: .*conveyor_belt, fault"),
        ("missing", "'missing = sample_extensions:Missing' of mujoco_ros.extensions: Attribute"),
        ("no_extension", "it is not a subclass of Extension"),
        ("open_bounds", "setting 'force' of OpenSettings is a number and needs 'low' and 'high'"),
    ],
)
def test_an_extension_that_cannot_be_loaded_is_named(use: str, message: str) -> None:
    with pytest.raises(UserInputError, match=message):
        Run(ExtensionConfig(use=use))


@pytest.mark.usefixtures("_forget")
def test_installed_extensions_replace_shipped_ones_and_not_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "gusts.py"
    module.write_text(
        "from mujoco_ros.extensions.interface import Extension\n\n\n"
        "class Gusts(Extension):\n    pass\n"
    )
    entries = "[mujoco_ros.extensions]\nwind = gusts:Gusts\npush = gusts:Gusts\n"
    monkeypatch.syspath_prepend(write_package(tmp_path / "other", module, entries))
    importlib.invalidate_caches()
    load_extension.cache_clear()
    assert load_extension("wind").__name__ == "Gusts"
    packages = "'gusts:Gusts' of gusts and 'sample_extensions:Push' of sample_extensions"
    with pytest.raises(UserInputError, match=f"'push' of mujoco_ros.ext.* not unique: {packages};"):
        Run(push())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forc": 1.0}, "settings: key 'forc' not found .*there are: body, force, direction"),
        ({"force": 101}, "settings.force is 101; it must be from 0 to 100"),
        ({"force": float("nan")}, "settings.force: expected a finite number"),
        ({"direction": [0.0, 2.0, 0.0]}, "settings.direction is 2; it must be from -1 to 1"),
        ({"direction": [0.0, 0.0, 0.0]}, "settings: 'direction' must not be zero"),
        ({"shape": "sine"}, "settings.shape is 'sine'; it must be one of walk, constant"),
        ({"body": "head"}, "robot 'arm': body 'head' not found; there are: base_link, "),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserInputError, match=f"^extension 'arm/push': {message}"):
        Run(push(**settings))


def test_a_robot_that_does_not_exist_is_named() -> None:
    with pytest.raises(UserInputError, match=r"extension 'push': robot 'leg' not found; .*: arm"):
        Run(replace(push(), robot="leg"))


def test_the_same_seed_gives_the_same_bits() -> None:
    first, second, other = (Run(push(), seed=seed).step(200) for seed in (1, 1, 2))
    without = Run().step(200)
    assert first.tobytes() == second.tobytes()
    assert (first != other).any()
    assert (first[:12] != without).any(), "the force has an effect"


@pytest.mark.parametrize("how", ["reset", "keyframe", "keyframe after a spawn"])
def test_a_state_that_is_loaded_continues_with_the_same_bits(how: str) -> None:
    run = Run(push())
    keyframes = Keyframes(run.simulation)
    run.step(0 if how == "reset" else 70)
    keyframes.save("here")
    expected = run.step(90)
    if how == "reset":
        run.simulation.reset()
    else:
        if how == "keyframe after a spawn":
            run.change(add=[part_from_text(BOX, name="crate")])
            run.step(5)
        keyframes.load("here")
    assert run.extension.resets >= 1
    result = run.step(90)
    if how == "keyframe after a spawn":  # sums of a dense Jacobian are rounded differently
        np.testing.assert_allclose(result, expected, atol=1e-6)
        result, expected = result[12:], expected[12:]
    assert result.tobytes() == expected.tobytes()


def test_state_and_random_numbers_continue_after_spawning_and_deleting() -> None:
    undisturbed, run = Run(push()), Run(push())
    expected = undisturbed.step(90)[12:]
    run.step(30)
    first = run.extension
    run.change(add=[part_from_text(BOX, name="crate")])
    run.step(30)
    run.change(remove=["crate"])
    assert run.extension is not first
    assert run.step(30)[12:].tobytes() == expected.tobytes()


def test_a_robot_that_is_spawned_gets_the_extension_that_the_scene_has_for_its_name() -> None:
    run = Run(replace(push(body="link_1"), robot="drone_*"))
    assert not run.set.runners
    run.change(add=[part_from_text(ROBOT, name="drone_1")])
    assert [it.key for it in run.set.runners] == ["drone_1/push"]
    run.step(20)
    assert run.extension.state["calls"].tolist() == [20.0, 20.0]
    run.change(remove=["drone_1"])
    assert not run.set.runners
    run.change(add=[part_from_text(ROBOT, name="drone_1")])
    assert run.extension.state["calls"].tolist() == [0.0, 0.0], "it is another robot"


def test_a_robot_without_the_elements_is_rejected_and_nothing_changes() -> None:
    run = Run(replace(push(body="head"), robot="drone_*"))
    with pytest.raises(UserInputError, match="robot 'drone_1': body 'head' not found"):
        run.change(add=[part_from_text(ROBOT, name="drone_1")])
    run.set.rollback()
    assert not run.set.runners
    run.step(5)


_FAULTS = {
    "raise": r"raised RuntimeError\('broken'\) \(sample_extensions.py:\d+\)",
    "exit": r"raised SystemExit\(3\)",
    "interrupt": r"raised KeyboardInterrupt\(\)",
    "nan": r"wrote ctrl\[0\] = nan",
    "huge": r"wrote qvel\[0\] = 1e\+200",
    "shape": r"raised ValueError\('could not broadcast",
    "state": "wrote numbers to its state that are not finite",
}


@pytest.mark.parametrize(
    ("how", "where"),
    [
        *((how, "before_step") for how in _FAULTS),
        *product(("exit", "nan", "state"), ("after_step", "settings_changed", "reset")),
    ],
)
def test_an_error_is_undone_and_disables_the_extension(
    how: str, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(ExtensionConfig(use="fault", settings={"where": where}))
    failed: list[bool] = []
    run.runner.on_failure = lambda: failed.append(True)
    run.step(3)
    data, call = run.simulation.data, _caller(run, where)
    data.qfrc_applied[0] = 0.0
    before = [array.copy() for array in (data.qpos, data.qvel, data.ctrl)]
    run.runner.settings = run.extension.settings = replace(run.extension.settings, how=how)
    call()
    assert not run.runner.is_enabled
    assert failed == [True]
    assert np.array(before[0]).tobytes() == data.qpos.tobytes()
    assert [array.tolist() for array in (data.qpos, data.qvel, data.ctrl)] == [
        array.tolist() for array in before
    ]
    assert (data.qfrc_applied[0], run.extension.state["level"][0]) == (0.0, 0.0)
    assert _matches(rf"extension 'fault': {where} {_FAULTS[how]}.* at 0\.00", caplog.text)
    caplog.clear()
    run.step(20)
    call()
    assert not caplog.text, "it is not called any more"
    assert np.isfinite(data.qpos).all()
    run.runner.settings = run.extension.settings = replace(run.extension.settings, how="")
    run.runner.enable(enabled=True)
    assert (run.runner.failure, run.runner.is_enabled) == ("", True)


def _caller(run: Run, where: str) -> Callable[[], object]:
    return {
        "before_step": run.set.before_step,
        "after_step": run.set.after_step,
        "settings_changed": lambda: run.runner.change_settings(run.extension.settings),
        "reset": run.runner.reset,
    }[where]


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


@pytest.mark.parametrize(("on_error", "paused"), [("disable", False), ("pause", True)])
def test_an_error_pauses_the_simulation_if_the_scene_sets_it(on_error: Any, paused: bool) -> None:
    run = Run(ExtensionConfig(use="fault", on_error=on_error, settings={"how": "raise"}))
    run.set.before_step()
    assert run.simulation.paused is paused


@pytest.mark.parametrize("how", ["raise", "exit", "interrupt"])
def test_an_error_at_the_start_is_one_sentence(how: str) -> None:
    config = ExtensionConfig(use="fault", settings={"how": how, "where": "set_up"})
    with pytest.raises(UserInputError, match=r"^extension 'fault': set_up raised \w+.*\.py:"):
        Run(config)


def test_only_methods_that_are_overridden_are_called() -> None:
    run = Run(ExtensionConfig(use="idle"), ExtensionConfig(use="fault"))
    assert [it.key for it in run.set._before] == ["idle", "fault"]
    assert [it.key for it in run.set._after] == ["fault"]


@pytest.mark.parametrize("how", ["raise", "exit", "nan", "state"])
def test_an_error_in_release_is_undone_and_logged(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(ExtensionConfig(use="fault", settings={"where": "release", "how": how}))
    before = run.step(3).tolist()
    run.runner.enable(enabled=False)
    assert _matches(rf"extension 'fault': release {_FAULTS[how]}", caplog.text)
    assert run.simulation.data.qfrc_applied[0] == 0.0
    assert run.extension.state["level"][0] == 0.0
    states = run.step(0)
    assert states.tolist() == before


def test_an_extension_that_is_enabled_again_begins_with_reset() -> None:
    run = Run(push())
    resets = run.extension.resets
    for _ in range(2):
        run.runner.enable(enabled=False)
    run.simulation.reset()
    assert run.extension.resets == resets
    for _ in range(2):
        run.runner.enable(enabled=True)
    assert run.extension.resets == resets + 1
