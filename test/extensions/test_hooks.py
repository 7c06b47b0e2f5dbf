"""Hooks of extensions in the engine, restricted to their robot and their simulation."""

import ctypes
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import mujoco
import numpy as np
import pytest
import sample_hooks

from mujoco_ros.extensions import callbacks, extension_set, hook_table
from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import (
    ExtensionConfig,
    PhysicsConfig,
    RobotConfig,
    SceneConfig,
)
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.native import library
from mujoco_ros.sim.simulation import Simulation

ROBOT = """<mujoco><worldbody><body name="link" pos="0 0 2"><joint name="hinge" axis="0 1 0"/>
<geom size=".1" pos=".3 0 0" mass="1"/><body name="tip" pos=".5 0 0"><joint name="knee"
axis="0 1 0"/><geom size=".1" pos=".2 0 0" mass=".5"/></body></body></worldbody>
<actuator><motor name="motor" joint="knee"/>
<general name="lag" joint="hinge" dyntype="user" actdim="1" gaintype="user" biastype="user"/>
</actuator><sensor><user name="one" dim="2" needstage="pos"/>
<user name="two" dim="3" needstage="vel"/><user name="three" dim="4" needstage="acc"/></sensor>
</mujoco>"""
PILE = """<mujoco><worldbody><body><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
<body pos="0 0 .19"><freejoint/><geom name="ball" size=".1"/></body>
<body pos=".15 0 0"><freejoint/><geom name="apart" size=".1" contype="2" conaffinity="4"/><geom
name="above" size=".1" pos="0 0 .19"/></body></worldbody></mujoco>"""
FREE = """<mujoco model="free"><worldbody><body><freejoint/><geom size=".1"/></body></worldbody>
</mujoco>"""


class Run:
    """Two equal robots, `a` and `b`, with extensions of given classes."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *extensions: ExtensionConfig,
        integrator: Any = "Euler",
        model: str = ROBOT,
    ) -> None:
        monkeypatch.setattr(
            extension_set, "load_extension", lambda name: getattr(sample_hooks, name)
        )
        (folder / "robot.xml").write_text(model)
        self.config = SceneConfig(
            folder=folder,
            robots=tuple(
                RobotConfig(name=name, model="robot.xml", namespace=name) for name in ("a", "b")
            ),
            physics=PhysicsConfig(integrator=integrator, timestep=0.001),
            extensions=extensions,
        )
        self.simulation = Simulation(self.config)
        self.data = self.simulation.data
        if model is ROBOT:
            self.data.qpos[:] = (0.3, 0.2, 0.3, 0.2)
            self.data.qvel[:] = (1.0, -2.0, 1.0, -2.0)
        self.set = ExtensionSet(self.simulation)

    def step(self, steps: int = 1) -> bytes:
        """Return the state after some steps."""
        for _ in range(steps):
            self.set.before_step()
            assert self.simulation.step()
            self.set.after_step()
        return self.data.qpos.tobytes() + self.data.qvel.tobytes() + self.data.act.tobytes()

    @property
    def failure(self) -> str:
        return self.set.runners[-1].failure


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Create runs, and remove their hooks."""
    runs: list[Run] = []

    def create(*extensions: ExtensionConfig, **options: Any) -> Run:
        runs.append(Run(tmp_path, monkeypatch, *extensions, **options))
        return runs[-1]

    yield create
    for run in runs:
        run.set.close()


def extension(use: str, robot: str = "a", name: str | None = None, **settings: Any) -> Any:
    return ExtensionConfig(use=use, robot=robot, name=name or use.lower(), settings=settings)


def test_passive_forces_act_on_the_own_robot_and_add_up(make: Any) -> None:
    run = make(extension("Damp", damping=0.5), extension("Damp", robot="", name="all", damping=2.0))
    mujoco.mj_forward(run.simulation.model, run.data)
    assert run.data.qfrc_passive == pytest.approx([-2.5, 5.0, -2.0, 4.0])


def test_hooks_of_controls_are_composed_in_the_order_of_the_scene(make: Any) -> None:
    run = make(
        extension("Double", robot="b"), extension("Double", name="x"), extension("Double", name="y")
    )
    run.data.ctrl[:] = (0.5, 0.0, 0.25, 0.0)
    mujoco.mj_forward(run.simulation.model, run.data)
    assert run.data.ctrl.tolist() == [5.0, 3.0, 1.5, 1.0]


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_user_sensors_have_the_readings_of_their_stage(make: Any, integrator: str) -> None:
    run = make(extension("Measure"), integrator=integrator)
    q, v = float(run.data.qpos[0]), float(run.data.qvel[0])
    run.step()
    sensor = {name: run.data.sensor(f"a/{name}").data.tolist() for name in ("one", "two", "three")}
    assert sensor["one"] == [1.0, q]
    assert sensor["two"] == [2.0, q, v]
    assert sensor["three"][:3] == [3.0, q, v]
    assert sensor["three"][3] == pytest.approx(run.simulation.sample.qacc[0], abs=1e-9)
    assert not run.data.sensor("b/three").data.any(), "a sensor of another robot"


def test_the_laws_of_a_user_actuator_are_those_of_the_extension(make: Any) -> None:
    run = make(extension("Muscle"))
    run.data.ctrl[1] = 0.7
    run.simulation.drives.write = lambda *_: None  # no reference drives it
    act = 0.0
    for _ in range(50):
        run.step()
        assert run.data.actuator_force[1] == pytest.approx(3.0 * act - 0.25, abs=1e-12)
        act += 0.001 * 20.0 * (0.7 - act)
    assert run.data.act[0] == pytest.approx(act, abs=1e-12)
    assert run.data.actuator_force[3] == 0.0, "the robot without it: gain 1, activation 0"


def contacts(run: Run) -> set[str]:
    """Return the pairs of geoms in contact."""
    mujoco.mj_forward(run.simulation.model, run.data)
    name = run.simulation.model.geom
    return {" ".join(sorted(name(int(it)).name for it in pair)) for pair in run.data.contact.geom}


def test_contacts_of_the_own_robot_are_discarded_as_the_first_extension_wants(make: Any) -> None:
    without = contacts(make(model=PILE))
    assert {"a/ball a/box", "a/above a/ball", "b/ball b/box", "a/box b/box"} <= without
    assert not any("apart" in pair and "box" in pair for pair in without), "by their masks"
    asked = make(extension("Ghost"), model=PILE)
    assert contacts(asked) == without, "the filter evaluates the masks as the engine does"
    run = make(
        extension("Ghost", name="one", geom="ball"),
        extension("Ghost", name="two", geom="above"),
        model=PILE,
    )
    assert contacts(run) == {it for it in without if "a/ball" not in it and "a/above" not in it}
    own = {it.id for it in map(run.simulation.model.geom, range(8)) if it.name.startswith("a/")}
    for runner in run.set.runners:
        assert runner.extension.asked
        assert all(own & set(pair) for pair in runner.extension.asked)
    spec = mujoco.MjSpec.from_string(PILE)
    assert mujoco.MjData(spec.compile()).ncon == 0
    other = spec.compile()
    data = mujoco.MjData(other)
    mujoco.mj_forward(other, data)
    found = data.ncon
    run.set.close()
    asked.set.close()
    assert mujoco.get_mjcb_contactfilter() is None
    mujoco.mj_forward(other, data)
    assert data.ncon == found, "another model has no filter"


def test_the_clock_of_an_extension_measures_the_steps_of_its_simulation_only(make: Any) -> None:
    run, other = make(extension("Ticks")), make()
    run.step(3)
    assert run.data.timer[mujoco.mjtTimer.mjTIMER_STEP].number == 3
    assert run.data.timer[mujoco.mjtTimer.mjTIMER_STEP].duration > 0.0
    readings = run.set.runners[0].extension.readings
    other.step(3)
    assert run.set.runners[0].extension.readings == readings
    assert other.data.timer[mujoco.mjtTimer.mjTIMER_STEP].duration == 0.0
    run.set.close()
    assert mujoco.get_mjcb_time() is None


def test_the_same_run_has_the_same_bits_and_a_model_change_keeps_the_hooks(make: Any) -> None:
    extensions = (extension("Damp"), extension("Muscle"), extension("Measure", robot=""))
    first, second, without = make(*extensions), make(*extensions), make()
    before = first.step(100)
    assert before == second.step(100)
    assert before != without.step(100)
    assembly = rebuild(first.simulation.assembly, add=[part_from_text(FREE, name="ball")])
    plant = first.simulation.build_plant(assembly)
    first.set.build(plant)
    old = first.data
    first.simulation.switch_model(plant)
    first.set.commit()
    first.data = first.simulation.data
    first.step(50)
    second.step(50)
    np.testing.assert_allclose(first.data.qpos[:4], second.data.qpos, atol=1e-9)
    old.qfrc_passive[:] = 0.0
    mujoco.mj_passive(second.simulation.model, old)
    assert not old.qfrc_passive.any(), "the model that is gone has no hooks"


def test_no_other_model_and_no_other_data_has_the_hooks(make: Any) -> None:
    def evaluate(model: mujoco.MjModel) -> list[float]:
        data = mujoco.MjData(model)
        data.qvel[:], data.ctrl[:] = 1.0, 0.5
        mujoco.mj_step(model, data)
        return [*data.qpos, *data.ctrl, *data.sensordata, *data.actuator_force]

    model = mujoco.MjModel.from_xml_string(ROBOT)
    expected, bits = evaluate(model), make(extension("Damp")).step(300)
    kinds = ("Damp", "Double", "Measure", "Muscle", "Ghost", "Ticks")
    everything = make(*(extension(use, robot="") for use in kinds))
    own = everything.simulation.model
    assert evaluate(model) == expected
    assert evaluate(own)[4:8] == [0.5] * 4, "other data of the same model"
    run, errors, stop = make(extension("Damp")), [], threading.Event()

    def work() -> None:
        while not stop.is_set():
            # Compiling evaluates the new model, which no Python object has yet.
            if evaluate(mujoco.MjSpec.from_string(ROBOT).compile()) != expected:
                errors.append("another result")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    result = run.step(300)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert result == bits


_HOW = {
    "raise": r"raised RuntimeError\('broken'\) \(sample_hooks.py:\d+\)",
    "exit": r"raised SystemExit\(3\)",
    "interrupt": r"raised KeyboardInterrupt\(\)",
    "state": r"wrote qvel\[0\] = inf",
}
_ARRAYS = {
    "nan": {
        "passive": "wrote nan for joint 'knee'",
        "control": r"wrote nan for actuator 'lag'",
        "sensor": "wrote nan for one",
    },
    "shape": dict.fromkeys(("passive", "control", "sensor"), "raised ValueError"),
    "return": dict.fromkeys(("passive", "control", "sensor"), "returned str; it must write to"),
    "float": dict.fromkeys(
        ("passive", "control", "sensor"), "returned _BadFloat; it must write to"
    ),
}
_NUMBERS = {
    "nan": "returned nan",
    "shape": "returned ndarray",
    "return": "returned str",
    "float": r"raised RuntimeError\('in float'\) \(sample_hooks.py:\d+\)",
}
_FOR = {"contact_filter": r" for geom '\d'", "time": ""}


@pytest.mark.parametrize(
    "kind",
    [
        *("passive", "control", "sensor", "act_dyn", "act_gain", "act_bias"),
        *("contact_filter", "time"),
    ],
)
@pytest.mark.parametrize("how", [*_HOW, *_ARRAYS])
def test_a_hook_that_is_wrong_is_named_and_has_no_effect(make: Any, how: str, kind: str) -> None:
    expected = make().step(40)
    run = make(extension("BadHook", kind=kind, how=how))
    assert run.step(40) == expected
    number = _NUMBERS.get(how, "") + _FOR.get(kind, " for actuator 'lag'")
    wrong = _HOW.get(how) or _ARRAYS[how].get(kind, number)
    assert re.fullmatch(rf"{kind} {wrong}.* at 0\.000000 s", run.failure)
    assert np.isfinite(run.data.sensordata).all()


class _Native(Extension):
    """Takes the functions of its class."""

    functions: ClassVar[Any] = {}

    def set_up(self) -> None:
        self.native = dict(self.functions)


@pytest.fixture(params=["c", "python"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the engine calls C functions: with and without a C compiler."""
    if request.param == "c":
        if library() is None:
            pytest.skip("the native part is not compiled: no C compiler")
    else:
        monkeypatch.setattr(hook_table, "c_callback", lambda _kind: None)
    return str(request.param)


def native(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> ExtensionConfig:
    monkeypatch.setattr(sample_hooks, "Native", _Native, raising=False)
    monkeypatch.setattr(_Native, "functions", functions)
    return ExtensionConfig(use="Native", name="native", robot="a")


def test_c_functions_are_hooks_restricted_to_the_robot(
    make: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    library = next(
        path
        for path in Path(mujoco.__file__).parent.iterdir()
        if re.match(r"libmujoco\.so|libmujoco.*\.dylib|mujoco\.dll", path.name)
    )
    energy = ctypes.CDLL(str(library)).mj_energyPos  # (const mjModel*, mjData*)
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    runs: list[Run] = []

    @signature
    def push(_model: int, _data: int) -> None:
        runs[0].data.qfrc_passive[:] += 4.0  # of both robots

    address = ctypes.cast(push, ctypes.c_void_p).value
    runs.append(make(native(monkeypatch, control=energy, passive=address)))
    (run,) = runs
    mujoco.mj_forward(run.simulation.model, run.data)
    assert run.data.qfrc_passive.tolist() == [4.0, 4.0, 0.0, 0.0]
    weights = 9.81 * run.simulation.model.body_mass
    assert run.data.energy[0] == pytest.approx(weights @ run.data.xipos[:, 2], rel=1e-9)
    assert run.set.runners[0].cell.spent > 0.0 or path == "python"
    run.set.runners[0].enable(enabled=False)
    mujoco.mj_forward(run.simulation.model, run.data)
    assert run.data.qfrc_passive.tolist() == [0.0] * 4


_WORD, _INT, _DOUBLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
_VOID = ctypes.CFUNCTYPE(None, _WORD, _WORD)
_STAGED = ctypes.CFUNCTYPE(None, _WORD, _WORD, _INT)
_LAW = ctypes.CFUNCTYPE(_DOUBLE, _WORD, _WORD, _INT)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_c_functions_do_what_methods_do(
    make: Any, monkeypatch: pytest.MonkeyPatch, path: str, integrator: str
) -> None:
    kinds = ("Damp", "Measure", "Muscle")
    expected = make(*map(extension, kinds), integrator=integrator)
    bits, readings = expected.step(40), expected.data.sensordata.tobytes()
    runs: list[Run] = []

    def data_at(address: int) -> mujoco.MjData:
        plant = runs[0].simulation.plant
        twin = plant.twin
        return plant.data if twin is None or twin._address != address else twin

    def passive(_model: int, address: int) -> None:
        data_at(address).qfrc_passive[:] += -0.5 * data_at(address).qvel

    def sensor(_model: int, address: int, stage: int) -> None:
        data = data_at(address)
        data.sensordata[:] = stage  # of both robots, and of the other stages
        slot = {1: 0, 2: 2, 3: 5}[stage]
        reading = (stage, data.qpos[0], data.qvel[0], data.qacc[0])[: stage + 1]
        data.sensordata[slot : slot + stage + 1] = reading

    def dyn(_model: int, address: int, actuator: int) -> float:
        data = data_at(address)
        return float(20.0 * (data.ctrl[actuator] - data.act[0]))

    functions = {
        "passive": _VOID(passive),
        "sensor": _STAGED(sensor),
        "act_dyn": _LAW(dyn),
        "act_gain": _LAW(lambda *_: 3.0),
        "act_bias": _LAW(lambda *_: -0.25),
    }
    expected.set.close()
    runs.append(make(native(monkeypatch, **functions), integrator=integrator))
    installed = {kind: it is not callbacks._CALLBACKS[kind] for kind, it in _installed().items()}
    assert installed == dict.fromkeys(functions, path == "c")
    assert runs[0].step(40) == bits
    assert runs[0].data.sensordata.tobytes() == readings
    assert not runs[0].failure


def _installed() -> dict[str, Any]:
    return callbacks._installed


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        ("passive", "array", "passive wrote nan for joint 'knee'"),
        ("control", "array", r"control wrote (nan for actuator 'lag'|ctrl\[1\] = nan)"),
        ("sensor", "array", "sensor wrote nan for one"),
        ("act_dyn", float("nan"), "act_dyn returned nan for actuator 'lag'"),
        ("act_gain", float("inf"), "act_gain returned inf for actuator 'lag'"),
        ("act_bias", -1e200, r"act_bias returned -1e\+200 for actuator 'lag'"),
    ],
)
def test_a_c_function_that_is_wrong_is_named_and_has_no_effect(
    make: Any, monkeypatch: pytest.MonkeyPatch, path: str, kind: str, wrong: Any, message: str
) -> None:
    expected = make().step(40)
    runs: list[Run] = []

    def spoil(*_: int) -> None:
        arrays = {"passive": "qfrc_passive", "control": "ctrl", "sensor": "sensordata"}
        getattr(runs[0].data, arrays[kind])[1:2] = np.nan

    shape = {"passive": _VOID, "control": _VOID, "sensor": _STAGED}.get(kind)
    function = _LAW(lambda *_: wrong) if shape is None else shape(spoil)
    runs.append(make(native(monkeypatch, **{kind: function})))
    assert runs[0].step(40) == expected
    assert re.fullmatch(rf"{message} at 0\.000000 s", runs[0].failure)
    assert np.isfinite(runs[0].data.sensordata).all()


def test_a_c_function_evaluates_its_model_without_hooks(
    make: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    runs, calls = list[Run](), [0]

    def nested(*_: int) -> None:
        calls[0] += 1
        mujoco.mj_passive(runs[0].simulation.model, runs[0].data)

    runs.append(make(native(monkeypatch, passive=_VOID(nested), control=_VOID(nested))))
    runs[0].step(5)
    assert calls == [10]
    assert not runs[0].failure


def test_c_functions_serve_their_model_alone_also_beside_another_simulation(
    make: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    model = mujoco.MjModel.from_xml_string(ROBOT)
    runs: list[Run] = []

    @_VOID
    def push(_model: int, _data: int) -> None:
        runs[0].data.qfrc_passive[:] += 4.0

    runs.append(make(native(monkeypatch, passive=push)))
    (run,) = runs
    other, copy = mujoco.MjData(model), mujoco.MjData(run.simulation.model)
    mujoco.mj_forward(model, other)
    mujoco.mj_forward(run.simulation.model, copy)
    assert not other.qfrc_passive.any()
    assert not copy.qfrc_passive.any()
    second = make(extension("Damp", damping=0.5))
    for it in (run, second, run):
        mujoco.mj_forward(it.simulation.model, it.data)
    assert run.data.qfrc_passive.tolist() == [4.0, 4.0, 0.0, 0.0]
    assert second.data.qfrc_passive == pytest.approx([-0.5, 1.0, 0.0, 0.0])
    assert _installed()["passive"] is callbacks._CALLBACKS["passive"]
    second.set.close()
    mujoco.mj_forward(run.simulation.model, run.data)
    assert run.data.qfrc_passive.tolist() == [4.0, 4.0, 0.0, 0.0]
    assert (_installed()["passive"] is callbacks._CALLBACKS["passive"]) == (path == "python")
    run.set.close()
    assert mujoco.get_mjcb_passive() is None


def test_c_functions_filter_contacts_and_are_clocks(
    make: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    word, number = ctypes.c_void_p, ctypes.c_int

    @ctypes.CFUNCTYPE(number, word, word, number, number)
    def discard(_model: int, _data: int, _first: int, _second: int) -> int:
        return 1

    @ctypes.CFUNCTYPE(ctypes.c_double)
    def seconds() -> float:
        return float(run.data.timer[0].number)

    run = make(native(monkeypatch, contact_filter=discard, time=seconds), model=PILE)
    assert not any("a/" in pair for pair in contacts(run))
    assert any("b/" in pair for pair in contacts(run))
    run.step(2)
    assert not run.failure


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({"force": 1}, "extension 'a/native': hook 'force' not found; there are: control, passi"),
        ({"passive": 0}, r"extension 'a/native': native\['passive'\] is a null pointer"),
        ({"passive": "f"}, r"extension 'a/native': native\['passive'\] is 'f', not a C function"),
    ],
)
def test_what_is_no_c_function_is_rejected(
    make: Any, monkeypatch: pytest.MonkeyPatch, functions: Any, message: str
) -> None:
    with pytest.raises(UserInputError, match=message):
        make(native(monkeypatch, **functions))


def test_an_array_that_is_not_where_it_is_searched_is_named() -> None:
    with pytest.raises(RuntimeError, match=r"^MuJoCo \d.*: mjModel has no address of 'tuple_size'"):
        callbacks._word_of("tuple_size")  # near the end of the struct


def test_without_hooks_no_callback_is_installed(make: Any) -> None:
    assert mujoco.get_mjcb_passive() is None
    run = make(extension("Damp"))
    assert mujoco.get_mjcb_passive() is not None
    assert mujoco.get_mjcb_control() is None
    run.set.close()
    assert mujoco.get_mjcb_passive() is None


def test_a_hook_that_evaluates_the_model_itself_is_not_called_within(make: Any) -> None:
    run = make(replace(extension("Damp"), use="Nested", settings={}))
    run.step(5)
    assert not run.failure
    assert run.set.runners[0].extension.calls == 5
