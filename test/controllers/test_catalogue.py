from collections import Counter
from importlib import import_module, invalidate_caches
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from extension_package import write_package

from mujoco_ros.controllers import catalogue
from mujoco_ros.controllers.fsm import state
from mujoco_ros.model.errors import UserInputError

FILE = """
rate: 100
initial: A
states: {A: {class: Wait, duration: 0.5}, END: {class: Hold, outcome: ok}}
transitions: {A: {done: END}}
"""
POLICY_FILE = """
rate: 100
initial: A
states:
  A:
    machine:
      initial: B
      states:
        B: {class: Policy, file: %s, inputs: {obs: {terms: [{term: command}]}}}
        C: {class: Hold, outcome: stopped}
      transitions: {B: {fell: C, invalid: C}}
  END: {class: Hold, outcome: ok}
transitions: {A: {stopped: END}}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pause.yaml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("name", catalogue.names())
def test_every_shipped_controller_loads(name):
    controller = catalogue.load(name, seed=3)
    assert controller.table.name == name
    assert controller.seed == 3
    assert len(controller.machine.states) > 1


def test_a_controller_has_the_name_of_its_file(file):
    assert catalogue.load_table(str(file)).name == "pause"
    bad = file.rename(file.with_name("2.yaml"))
    with pytest.raises(UserInputError, match="controller '2' is not valid"):
        catalogue.load_table(str(bad))


def test_state_classes_have_unique_names():
    modules = [
        import_module(f"mujoco_ros.controllers.library.{path.parent.name}.{path.stem}")
        for path in (Path(catalogue.__file__).parent / "library").glob("*/*_states.py")
    ]
    assert len(modules) > 5
    classes = [cls.__name__ for module in (*modules, state) for cls in module.STATES]
    assert [name for name, count in Counter(classes).items() if count > 1] == []


def test_a_ros2_control_parameter_file_is_told_from_a_table(tmp_path):
    path = tmp_path / "controllers.yaml"
    path.write_text("controller_manager: {ros__parameters: {update_rate: 100}}")
    with pytest.raises(UserInputError, match="give it as the parameter 'controllers_file'"):
        catalogue.load(str(path))


def test_a_file_is_loaded_with_settings_and_a_rate(file):
    controller = catalogue.load(str(file), settings={"A": {"duration": 2.0}}, rate=50.0)
    assert controller.table.name == "pause"
    assert controller.period == 0.02
    assert controller.machine.configs["A"].duration == 2.0
    assert catalogue.load(str(file)).machine.configs["A"].duration == 0.5


def test_the_error_for_an_unknown_name_lists_the_known_ones(file, tmp_path):
    with pytest.raises(UserInputError, match="controller 'pause' not found; there are: "):
        catalogue.load("pause")
    with pytest.raises(UserInputError, match=r"none\.yaml' does not exist"):
        catalogue.load(str(tmp_path / "none.yaml"))
    with pytest.raises(UserInputError, match="state 'B' not found; there are: A, END"):
        catalogue.load(str(file), settings={"B": {}})
    with pytest.raises(UserInputError, match=r"rate 0\.0 is not above zero"):
        catalogue.load(str(file), rate=0.0)
    file.write_text(FILE.replace("Wait", "Waits"))
    with pytest.raises(UserInputError, match=r"class 'Waits' not found \(did you mean 'Wait'\?\)"):
        catalogue.load(str(file))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("mujoco_ros.controllers.fsm.state:Wait", None),
        ("mujoco_ros.controllers.interface.store:Store", "it is not a subclass of State"),
        ("mujoco_ros.missing:Wait", "ModuleNotFoundError: No module named 'mujoco_ros.missing'"),
    ],
)
def test_other_packages_register_states_as_entry_points(file, monkeypatch, value, message):
    entry = EntryPoint(name="Polish", value=value, group=catalogue.GROUP)
    monkeypatch.setattr(catalogue, "entry_points", lambda group: [entry])
    file.write_text(FILE.replace("Wait", "Polish"))
    if message is None:
        assert type(catalogue.load(str(file)).machine.instances["A"]) is state.Wait
    else:
        with pytest.raises(
            UserInputError, match=f"'Polish = {value}' of mujoco_ros.states: {message}"
        ):
            catalogue.load(str(file))


def test_a_registered_class_replaces_a_shipped_one_in_tables_of_users_only(file, monkeypatch):
    shipped = type(catalogue.load("walk_grasp").machine.instances["REACH"])
    value = "mujoco_ros.controllers.fsm.state:Wait"
    entries = [
        EntryPoint(name=name, value=value, group=catalogue.GROUP) for name in ("Reach", "Hold")
    ]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: entries)
    file.write_text(FILE.replace("Wait", "Reach"))
    instances = catalogue.load(str(file)).machine.instances
    assert type(instances["A"]) is state.Wait
    assert type(instances["END"]) is state.Hold
    assert type(catalogue.load("walk_grasp").machine.instances["REACH"]) is shipped


def test_different_classes_of_two_packages_with_one_name_are_an_error(file, tmp_path, monkeypatch):
    for package, cls in (("red_states", "Hold"), ("blue_states", "Wait")):
        module = tmp_path / f"{package}.py"
        module.write_text(f"from mujoco_ros.controllers.fsm.state import {cls} as Polish\n")
        entries = [f"{name} = {package}:Polish" for name in ("Polish", "Hold")]
        site = tmp_path / package
        write_package(site, module, "\n".join(["[mujoco_ros.states]", *entries]))
        monkeypatch.syspath_prepend(site)
    invalidate_caches()
    assert type(catalogue.load(str(file)).machine.instances["END"]) is state.Hold
    file.write_text(FILE.replace("Wait", "Polish"))
    classes = "'blue_states:Polish' of blue_states and 'red_states:Polish' of red_states"
    with pytest.raises(UserInputError, match=f"'Polish' of mujoco_ros.states .* {classes}; "):
        catalogue.load(str(file))


@pytest.mark.parametrize(
    ("given", "path"),
    [("policies/a.onnx", "{folder}/policies/a.onnx"), ("/policies/a.onnx", "/policies/a.onnx")],
)
def test_paths_of_files_begin_in_the_folder_of_the_table(file, given, path):
    file.write_text(POLICY_FILE % given)
    machine = catalogue.load(str(file)).machine
    assert machine.configs["A/B"].file == path.format(folder=file.parent)


def test_the_module_beside_the_file_of_a_controller_comes_first(monkeypatch):
    imported = []

    def record(module):
        imported.append(module.split(".")[-2])
        return import_module(module)

    monkeypatch.setattr(catalogue, "import_module", record)
    catalogue.load_table("grasp_reflex")
    assert imported == ["grasp_reflex"]


def test_a_file_cannot_import_code(file):
    file.write_text(FILE.replace("class: Wait", "class: os.system"))
    with pytest.raises(UserInputError, match=r"class 'os.system' not found"):
        catalogue.load(str(file))
