"""The pages agree with the code: names, keys, numbers, examples and commands."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import mujoco
import pytest
import yaml

from mujoco_ros.bridge.parameters.robot_parameters import ANGULAR_GRIPPER
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.gains import load_gains
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.catalogue import names as controller_names
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.ros.controller_settings import OF_EACH_CONTROLLER
from mujoco_ros.controllers.ros.node.node import CONTROLLER_NODE_PARAMETERS
from mujoco_ros.controllers.ros.state_parameters import config_specs
from mujoco_ros.model.scene.config import (
    ROBOT_RATES,
    ObjectConfig,
    PoseConfig,
    RobotConfig,
    SceneConfig,
    read_scene,
    shipped_scenes,
)
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.sim.simulation import Simulation

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
}
COMMANDS = PAGES["docs/reference/commands.md"]
CONTROL = PAGES["docs/explanation/control.md"]
EXAMPLES = PAGES["docs/how-to/command_robots.md"]
LAUNCH_FILES = PAGES["docs/reference/launch_files.md"]
PARAMETERS = PAGES["docs/reference/parameters.md"]
ROBOTS = PAGES["docs/reference/robots.md"]
ROS_INTERFACE = PAGES["docs/reference/ros_interface.md"]
SCENES = PAGES["docs/reference/scenes.md"]
TOPICS = PAGES["docs/reference/topics.md"]
TUTORIAL = PAGES["docs/tutorials/first_controller.md"]

Row = dict[str, str]


def section(text: str, heading: str) -> str:
    """Return the text after a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, flags=re.M | re.S)
    assert found, f"no section {heading}"
    return found.group(1)


def tables(text: str) -> list[list[Row]]:
    """Return the tables of a text, each row by column."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.M):
        lines = [[c.strip() for c in line.strip("|\n").split("|")] for line in block.splitlines()]
        found.append([dict(zip(lines[0], line, strict=True)) for line in lines[2:]])
    return found


def names(rows: list[Row], column: str) -> set[str]:
    return {row[column].strip("`") for row in rows}


def yaml_blocks() -> list[Any]:
    return [
        pytest.param(block, id=f"{page}-{index}")
        for page, text in PAGES.items()
        for index, block in enumerate(re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S))
    ]


def launch_arguments(name: str = "sim.launch.py") -> set[str]:
    tree = ast.parse((ROOT / "launch" / name).read_text())
    return {
        str(ast.literal_eval(node.args[0]))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "DeclareLaunchArgument"
    }


OTHER_NAMES = {
    *("NAME", "name", "prefix", "ur_type"),  # arguments of xacro files
    *("base", "convex_decomposition", "sdf"),  # arguments of any model
    *(name for file in ROOT.glob("launch/*.py") for name in launch_arguments(file.name)),
    *(spec.name for spec in CONTROLLER_NODE_PARAMETERS),
    *re.findall(r"ParameterSpec\(\s*\"([\w.]+)\"", PAGES["docs/explanation/components.md"]),
    *(
        spec.name
        for machine in (load(controller).machine for controller in controller_names())
        for state in machine.instances
        if (config := machine.configs[state]) is not None
        for _, spec in config_specs(state, config)
    ),
    *(
        f"{state}.{setting}"
        for state in re.findall(r"^  (\w+): {class: Reach", TUTORIAL, re.M)
        for setting in re.findall(r"^ {8}(\w+): float", TUTORIAL, re.M)
    ),
}
"""Arguments of launch files, and parameters of controllers and of the component of a page."""
PARAMETER_ROWS = {row["Name"].strip("`"): row for row in tables(PARAMETERS)[0]}
ROBOT_ROWS = {row["Name"].strip("`"): row for table in tables(PARAMETERS)[1:] for row in table}


def test_the_page_of_robots_lists_the_shipped_scenes():
    assert names(tables(ROBOTS)[0], "Scene") == set(shipped_scenes())


@pytest.mark.parametrize("robot", ["humanoid", "quadruped", "arm"])
def test_the_page_of_robots_gives_each_robots_joints_and_mass(robot):
    (row,) = [row for row in tables(ROBOTS)[1] if row["Robot"].startswith(f"`{robot}`")]
    model = mujoco.MjModel.from_xml_path(str(ROOT / f"urdf_mjcf/{robot}/{robot}.xml"))
    scalar = [int(t) for t in model.jnt_type if t != mujoco.mjtJoint.mjJNT_FREE]
    documented = [
        int(n) for n in re.findall(r"(\d+) joints|gripper \((\d+)\)", row["Robot"]) for n in n if n
    ]
    mass = re.search(r"([\d.]+) kg", row["Robot"])
    assert sum(documented) == len(scalar)
    assert mass
    assert float(mass.group(1)) == pytest.approx(model.body_subtreemass[0], abs=0.05)


def matching(rows: list[Row], column: str, cell: str) -> Row:
    """Return the row whose name, with its placeholders, matches a name."""
    found = []
    for row in rows:
        pattern = row[column].strip("`").replace("<ns>/", r"/(?:\w+/)?")
        if re.fullmatch(re.sub(r"<\w+>", r"\\w+", pattern), cell.strip("`")):
            found.append(row)
    assert len(found) == 1, cell
    return found[0]


def test_the_table_of_inputs_covers_exactly_the_inputs_of_the_scenes():
    rows = tables(section(COMMANDS, "Inputs"))[0]
    met = set()
    for taken in [row for table in tables(TOPICS) for row in table if "Input" in row]:
        row = matching(rows, "Input", taken["Input"])
        met.add(row["Input"])
        assert row["Type"] == taken["Type"]
    of_no_shipped_robot = {"`<ns>/actuator_commands`", "`<ns>/actuator_controller/commands`"}
    assert {row["Input"] for row in rows} == met | of_no_shipped_robot
    assert not met & of_no_shipped_robot


def test_the_page_of_commands_lists_the_examples():
    table = tables(section(EXAMPLES, "Examples"))[0]
    linked = [re.fullmatch(r"\[(.+)\]\(\.\./\.\./examples/(.+)\)", row["Example"]) for row in table]
    listed = [link.groups() for link in linked if link]
    assert listed == [(p.name, p.name) for p in sorted((ROOT / "examples").glob("*.py"))]


def test_the_page_about_control_has_the_defaults_of_the_code():
    documented = section(CONTROL, "The gripper") + section(CONTROL, "Joint trajectories")
    for words, name in (
        (r"`max_velocity` \((\S+) m/s\)", "gripper_controller.max_velocity"),
        (r"`stall_timeout` \((\S+) s\)", "gripper_controller.stall_timeout"),
        (
            r"velocity at the goal must be within (\S+) rad/s",
            "joint_trajectory_controller.constraints.stopped_velocity_tolerance",
        ),
        (r"Feedback comes at (\S+) Hz", "joint_trajectory_controller.action_monitor_rate"),
    ):
        (value,) = re.findall(words, documented.replace("\n", " "))
        assert float(value) == float(ROBOT_ROWS[name]["Default"].strip("`")), name
    (tolerance,) = re.findall(r"`goal_tolerance` \((\S+) mm\)", documented)
    default = ROBOT_ROWS["gripper_controller.goal_tolerance"]["Default"].strip("`")
    assert float(tolerance) == 1e3 * float(default)
    angular = (
        re.findall(words, documented) for words in (r"angles (\S+) rad,", r"angles (\S+) rad/s")
    )
    assert [float(value) for (value,) in angular] == list(ANGULAR_GRIPPER.values())
    sources = names(tables(section(COMMANDS, "Sources"))[0], "Source")
    assert sources == set(CommandSource) - {CommandSource.UNCLAIMED}


def test_the_table_of_topics_covers_the_topics_of_the_scenes_that_are_no_sensors():
    rows = tables(section(ROS_INTERFACE, "Published topics"))[0]
    rows = [
        row for row in rows if "[each sensor]" not in row["Note"] and "engine" not in row["Topic"]
    ]
    kinds = {*(kind.key for kind in SENSOR_KINDS), "sensor_states", "sensor_array"}
    met = set()
    for topic in [row for table in tables(TOPICS) for row in table if "Topic" in row]:
        if kinds & set(topic["Topic"].strip("`").split("/")):
            continue  # in sensors.md, which is generated
        row = matching(rows, "Topic", topic["Topic"])
        met.add(row["Topic"])
        assert row["Type"] == topic["Type"]
        assert row["Rate"].removesuffix(" Hz") == topic["Rate [Hz]"]
        assert row["QoS"].replace("sensor data", "best effort") in topic["QoS"]
    assert {row["Topic"] for row in rows} == met


def test_the_page_of_launch_files_lists_each_file_and_the_arguments_of_the_main_one():
    files = {path.name for path in (ROOT / "launch").glob("*.launch.py")}
    assert names(tables(LAUNCH_FILES)[0], "File") == files
    table = tables(section(LAUNCH_FILES, "sim.launch.py"))[0]
    assert names(table, "Argument") == launch_arguments()


@pytest.mark.parametrize(
    ("file", "page"),
    [
        ("controller", "reference/controller_node"),
        ("pick_place", "reference/pick_place"),
        ("rviz", "how-to/use_rviz"),
    ],
)
def test_the_pages_list_the_arguments_of_the_other_launch_files(file, page):
    (sentence,) = re.findall(r"^Arguments of .*?\n\n", PAGES[f"docs/{page}.md"], re.M | re.S)
    arguments = launch_arguments(f"{file}.launch.py")
    assert arguments <= set(re.findall(r"`(\w+)`", sentence))


def test_the_page_about_ros2_control_lists_the_arguments_of_its_launch_file():
    page = PAGES["docs/how-to/use_ros2_control.md"]
    table = tables(section(page, "Start"))[0]
    assert names(table, "Argument") == launch_arguments("ros2_control.launch.py")
    file = yaml.safe_load((ROOT / "config" / "ros2_control" / "arm.yaml").read_text())
    (rate,) = re.findall(r"files have (\d+) Hz", page)
    assert int(rate) == file["/**/controller_manager"]["ros__parameters"]["update_rate"]
    assert table[0]["Default"] == "`arm`"


def test_the_page_about_nav2_lists_the_arguments_of_its_launch_file():
    (table,) = tables(section(PAGES["docs/how-to/use_nav2.md"], "Start"))
    assert names(table, "Argument") == launch_arguments("nav2.launch.py")


def is_valid(value: str, row: Row) -> bool:
    """Return whether a parameter can have a value, by its row in the reference."""
    if row["Type"] == "float":
        low, high = row["Values"].split(" to ")
        return float(low) <= float(value) <= float(high)
    choices = re.findall(r"`(\w+)`", row["Values"])
    return not choices or value in choices


def is_scene(value: str, page: str) -> bool:
    if value.endswith(".yaml"):
        return f"`{value}`:\n\n```yaml" in PAGES[page]
    return value in {*shipped_scenes(), "example-robot-data", ""}


def test_every_assignment_has_a_valid_parameter_or_argument_and_value():
    wrong, rows = [], PARAMETER_ROWS | ROBOT_ROWS
    for page, text in PAGES.items():
        without_remappings = re.sub(r"-r \S+:=\S+", "", text)
        for name, value in re.findall(r"([\w.]+):=([\w./-]*)", without_remappings):
            is_known = name in rows or name in OTHER_NAMES
            is_right = name not in rows or is_valid(value, rows[name])
            if not is_known or not is_right or (name == "scene" and not is_scene(value, page)):
                wrong.append(f"{page}: {name}:={value}")
    assert not wrong, "\n".join(wrong)


def test_every_parameter_that_a_command_sets_can_be_set_at_run_time():
    wrong = []
    for page, text in PAGES.items():
        for name, value in re.findall(r"ros2 param set /mujoco ([\w.]+) ([\w./-]+)", text):
            if name in OTHER_NAMES:
                continue
            rows = [PARAMETER_ROWS[name]] if name in PARAMETER_ROWS else rows_of_robots(name)
            if not rows or rows[0]["Set"] != "at run time" or not is_valid(value, rows[0]):
                wrong.append(f"{page}: {name} {value}")
    assert not wrong, "\n".join(wrong)


def rows_of_robots(name: str) -> list[Row]:
    """Return the rows whose name, with its placeholders, is the name of a parameter."""
    return [
        row
        for template, row in (*ROBOT_ROWS.items(), *PARAMETER_ROWS.items())
        if re.fullmatch(re.sub(r"<\w+>", r"[\\w.]+", template), name)
    ]


@pytest.mark.parametrize(
    ("heading", "table", "config", "absent"),
    [
        ("The file", 0, SceneConfig, {"name", "folder", "merged"}),
        ("A robot", 0, RobotConfig, set()),
        ("An object", 0, ObjectConfig, set()),
        ("pose", 0, PoseConfig, set()),
    ],
)
def test_every_key_of_a_scene_is_in_its_reference(heading, table, config, absent):
    rows = tables(section(SCENES, heading))[table]
    assert names(rows, "Key") == {field.name for field in fields(config)} - absent
    hints = get_type_hints(config)
    for row in rows:
        kinds = [hints[row["Key"].strip("`")], *get_args(hints[row["Key"].strip("`")])]
        for kind in kinds:
            if get_origin(kind) is Literal:
                assert set(get_args(kind)) <= set(re.findall(r"`(\w+)`", row["Type"])), row["Key"]


def test_every_publish_rate_but_of_tf_can_be_given_in_a_scene():
    listed = set(re.findall(r"^\| `publish_rate\.(\w+)` ", PARAMETERS, flags=re.M))
    assert listed - {"tf"} == set(ROBOT_RATES)


def flat(parameters: dict[str, Any]) -> Iterator[str]:
    """Yield the names of parameters, given one within the other."""
    for name, value in parameters.items():
        if isinstance(value, dict):
            yield from (f"{name}.{rest}" for rest in flat(value))
        else:
            yield name


@pytest.mark.parametrize("block", yaml_blocks())
def test_every_yaml_example_is_accepted(block, tmp_path):
    path = tmp_path / "example.yaml"
    path.write_text(block)
    content = yaml.safe_load(block)
    if "states" in content:
        return  # a controller's table needs its classes: test_fsm_page.py and test_tutorials.py
    if "controller_manager" in content:
        return  # parameters of controllers: test_bringup_tutorial.py
    if "command_interfaces" in content:
        return  # parameters of a controller: test_controller_types_page.py
    if "memory" in content:
        return  # settings of a policy: test_policy_page.py
    if content.keys() & {"robots", "extends"}:
        scene = read_scene(path)
        # test_other_robots.py runs the robot of a collection.
        if any(re.match(r"my_|[\w-]+:\w", robot.model) for robot in scene.robots):
            for entity in scene.objects:
                assert scene.path(entity.model).is_file()
        else:
            assert Simulation(scene).step()
        return
    trials = (
        *(("reach", "pick_place"), ("at", "stand")),
        *(("box_mass", "walk_grasp"), ("trunk_mass", "trot_policy"), ("yaw", "walk")),
    )
    for key, controller in trials:
        if key in content:
            assert trial(controller, str(path))
            return
    if "mujoco" in content:
        given = content["mujoco"]["ros__parameters"]
        of_controllers = {
            f"{name}.{setting}"
            for name in given.get("controllers", ())
            for setting in OF_EACH_CONTROLLER
        }
        assert set(flat(given)) <= set(PARAMETER_ROWS) | of_controllers
        return
    if "/pick_place" in content:
        machine = load("pick_place").machine
        for name, value in content["/pick_place"]["ros__parameters"].items():
            state, _, setting = name.rpartition(".")
            machine.configure(state, {setting: value})
        return
    gains = load_gains(path, tuple(content), tuple(content))
    assert (gains.kp > 0).all()


def words_without_an_entity(line: str) -> Iterator[str]:
    """Yield the words of a command that name a target, variable, scene or file that is missing."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.M))
    variables = set(re.findall(r"^([A-Z]+) +\?=", makefile, flags=re.M))
    command = line.partition("#")[0].split()
    if command[:1] == ["make"]:
        yield from {command[1]} - targets
        for name, value in re.findall(r"\b([A-Z]+)=(\S+)", line.partition("#")[0]):
            exists = name in variables
            if name == "SCENE":
                exists = value in shipped_scenes() or (ROOT / value).is_file()
                exists = exists or value.startswith("my_")
            if name == "TESTS":
                exists = (ROOT / value).exists()
            if not exists:
                yield f"{name}={value}"
    for word in command:
        if re.match(r"(\.venv/bin/python|https?:)", word) or ":=" in word:
            continue
        if re.fullmatch(r"(examples|docs|\.ci|launch|config)/[\w./-]+", word):
            yield from () if (ROOT / word).is_file() else (word,)
    if command[:3] == ["ros2", "launch", "mujoco_ros"]:
        yield from () if (ROOT / "launch" / command[3]).is_file() else (command[3],)
    if command[:3] == ["ros2", "run", "mujoco_ros"]:
        known = f'"{command[3]} = ' in (ROOT / "setup.py").read_text()
        yield from () if known else (command[3],)


def test_every_command_names_existing_entities():
    missing = [
        f"{page}: {line}: {word}"
        for page, text in PAGES.items()
        for block in re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S)
        for line in block.splitlines()
        for word in words_without_an_entity(line)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("make sim SCENE=arm", []),
        ("make simulate", ["simulate"]),
        ("make sim COLOUR=red SCENE=none", ["COLOUR=red", "SCENE=none"]),
        ("make test TESTS=test/none", ["TESTS=test/none"]),
        (".venv/bin/python examples/99_none.py", ["examples/99_none.py"]),
        ("ros2 launch mujoco_ros none.launch.py", ["none.launch.py"]),
        ("ros2 run mujoco_ros none", ["none"]),
    ],
)
def test_a_command_with_a_missing_entity_is_found(line, missing):
    assert list(words_without_an_entity(line)) == missing
