"""The overlay's types have the type hashes of the genuine ones.

The hashes are those rosidl_generator_type_description computes for the genuine packages named
below.  A hash covers field names, types and order but no constant, hence the second half.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance
from controller_manager_msgs.srv import SwitchController
from rclpy.node import Node
from ros_gz_interfaces.msg import Entity
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    Result,
    SimulationState,
    SimulatorFeatures,
    SpawnResult,
    TagsFilter,
)
from simulation_interfaces.srv import (
    GetAvailableWorlds,
    GetCurrentWorld,
    LoadWorld,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntities,
    SpawnEntity,
    StepSimulation,
    UnloadWorld,
)
from tf2_msgs.msg import TF2Error, TFMessage

# type and hash without its prefix, under package/kind, the package with its version
GENUINE_TABLE = """
control_msgs/msg: 5.8.0, of Jazzy
AdmittanceControllerState 8a23c54184ba101c9a733a0a882001edae478c8c3ea37132f9aae1d82fad0b73
DynamicInterfaceGroupValues 0ebef56c55cdde46b4622f7e0a4dbf26fefbf0296205463e955047252b434cbc
DynamicJointState 18024c98a62697680f581108eeed40b28fb4542fa0ac5a8e36f56c62b6813d26
GripperCommand 57eb8f326c9889ca8bb34ead82cc94cc09bf6bc5c3b6c09546dca3a00b589890
InterfaceValue 74a12144ef6b7af67533195cb30f7f607d3301b66950208a72d280695f3e190c
JointComponentTolerance 739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4
JointTolerance c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648
JointTrajectoryControllerState 51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480
MecanumDriveControllerState c560d21a4484fd5f2c05896a11de3315f4c33535a203d3e8d62af4b6a9cd3355
MultiDOFCommand 033fb0fa1ffc63a872ca73c61a49ded83a22daa5cc3f074cc28949f73359e677
MultiDOFStateStamped 08e47e3e734a7d08131b57e14e9f740782f3bf9a1aadabd2a16b54d27e551f0a
SingleDOFState fe8365f86265bddfefbd26698975a818bf024a1c267c8ce577cd366ef06d7163
SpeedScalingFactor 0c240f349f2b74e33e8741f83e0f196ddeb6585923663876ed3c1f51f0566037
SteeringControllerStatus 151ec2fabdfdf10cabe982ceab9fec8882c9efff0effc8d07ba7a1d404cf8143
control_msgs/action: 5.8.0, of Jazzy
FollowJointTrajectory 738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6
GripperCommand e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84
ParallelGripperCommand adfd3c1ebe8abc38ebcc0e454b6423d291d4010dd5697d14eca5b9be4726ae18
controller_manager_msgs/msg: 4.46.0, of Jazzy
ChainConnection 2daecd1da4b171f48b291c79747657a651eb1ab8821b68e38b1c88c736bba91c
ControllerManagerActivity 35b7de5d611b6780e89732de325f2f765eacdb8a7adfe5821a27af4a03a7c244
ControllerState 9a8780ab9814b6032978a07c6c7033cf1a7894ac8d948a6fb72afea07b04cc83
HardwareComponentState 8723f76b60e3ea54920065e3e777d93c68b76fc12839ad6a6ca4e0a6439b384c
HardwareInterface b4c556991db81ca56a49338b5e8f0675a6707faee54fba161d2bbd4d963d418a
NamedLifecycleState b7947b6f8df8f7e93d1cb8d115842fb0eeddfa6fb5c7b86cc0f3cafd55be4c1f
controller_manager_msgs/srv: 4.46.0, of Jazzy
CleanupController 0e5e0da84cf97150abbb3a4e2249c67e6f43dba01ed9b7228b4deaab8838ec4b
ConfigureController b5de498113f4eabc7b932e019ca0498d67304b1ca465fe8a426ea89644865ff9
ListControllerTypes 873e8d2bb81b8b5903ca736d299ba959f929efec4b4a18d17354b8b322822e05
ListControllers 4f8e36bb1fa5afdeba45c2d56ae6a2097b1493a253f961dd6290c085033bd189
ListHardwareComponents 2ff105e609928671af16413362c0fdd089e1dd50c5a49d830db603ba8e4439c8
ListHardwareInterfaces c3e561a6e8cc7b9d577d8065c783038e51f6950cbe9bed67fb117a3e2e04d8f1
LoadController e37f7596c50c88cf8cb7a10cd376ff7579850cc63b5e787e9c8f11981f9ab4d2
ReloadControllerLibraries 485cd0040f8a343a9596155b967363e1bc715f034bbb111f795c73d9d8056a9b
SetHardwareComponentState 940b15846ed3e1fb561ab45edf77a992b811fd59c574f45d5205a84a0deb2f65
SwitchController d4ad10aa5da7808bc522d55d4123d8ef79de73d049d165639d7663ac37cc9895
UnloadController 4055728e84c041348648d7f808c6681562000e3a9ce9fbb42c3350df25773f16
ros_gz_interfaces/msg: 2.1.1; the same in 1.0.5
Contact ba5acbac280b8650f9ad7caf995888ff8aca861742e0159d8d36efe8460d0db3
Contacts 2cf36dd51e105580839fb7d6c028846a6342a8dfd62fde733d05f3e0c9ec4b5b
Entity 266a26f377057ebb0a1f08f7fb9dc435a841d9ec4fa3ab8fa0085e66e653504e
JointWrench aa50610f0bc1a9f1f42a04e6d76da729968d0f91b62f48b2040c4dc866c02686
tf2_msgs/msg: geometry2 0.36.4, of Jazzy; the same in 0.39.1
TF2Error db2485e7d6a0ec75bf087e058ee45df682acc3a621ca7780503d10aac141809a
TFMessage e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087
tf2_msgs/srv: geometry2 0.36.4, of Jazzy; the same in 0.39.1
FrameGraph 0d1fbc6222c018ba5f33822904a2fdd4063705289956d3fdde07cd8c50fe8067
tf2_msgs/action: geometry2 0.36.4, of Jazzy; the same in 0.39.1
LookupTransform 0b8adf6bc0b5958879e3265b41a457e03558fe523890a81252c70eba97a82c5d
simulation_interfaces/msg: 1.5.1, of Jazzy; the same in 1.6.1, of Kilted
Bounds e8624fe51f0f5548197542697d924c5699ac7198f1e4c68e50c3ca2af73f5b3f
EntityCategory 43bdf7933fddf75f6970f7a8fe7078524355d821d390b3954bb46ac36c03dfe1
EntityFilters 8e7b12e8ea062f14c55de4877221fe1b7cd9749665a7ad8a4ab855fc4b148303
EntityInfo 3b9a2e7fa00f9a59d325b6e47904044c421561a385682027c7fc06c359806319
EntityState 2e0464a85eb80a939025075d6c20761eca6a4cb9d6baf2c0ba373467c8b598d0
NamedPose b32da2a039b1840f605ec025b7991a18efacac662fac272818d1ae6e2b12bc27
Resource 2bb1939cf80f8d2f284afba53cbec60b5ff33759bd39b714128ea8867a34c51a
Result cf43a306adff3337a0a47143d8f5689933bc70a30478f13b077dc1fe3bc5ad17
SimulationState bb9f87ccdd98fba113052a512d9801e84ce732d0a2b3c2b0cb281828de36e415
SimulatorFeatures 8b101c8529bc0ea3dcf056078254768f39832b9ef0adaf93bd5cea96c0de3305
SpawnEntity 94a349a865ccf673c18c080520299c88c3d8d5f4842ecf1482d6c997ac4b69f9
SpawnResult dbc277304b6c24bfb2a631cea8f52e2b005d583ec0a6c86b11613f5ce6486da1
Spawnable 8c22025d840e7a05ab31ba56f998b06458b549a9744b4695be25b778829fc176
TagsFilter 5c3efc51e8ed04c266c09cb4691ec95b964cd410558e01d8c83646b038826b45
WorldResource e3b65ecf904b9b115673e4a343c6aa3d28c19e185a71228faa64b783afcf2403
simulation_interfaces/srv: 1.5.1, of Jazzy; the same in 1.6.1, of Kilted
DeleteEntity ff7e96a5b83dc8e2bb34b8b034480028b3a24d9f8376b2c0590bac3704be3e28
GetAvailableWorlds ce5589b5523f2732d1969a3c5a7e6b17a387091df8190c62f78d7fdd1109e3e3
GetCurrentWorld 79ed4e910e1b7a1c9f7950ff758bfba3535bf0dec669054e8af115a099724ddd
GetEntities cb90004c48cd50f37732fb008e22c34c261dd680a723bf0f85d8437ea4498bf7
GetEntitiesStates 0a76170d0c1c90e1eaf805cfab78ea801d1f82df309a28c1f0fae4b570f19754
GetEntityBounds 17be8d36231178a5eed0de0344b55c19975581627a9aec30a4fee9926a35deed
GetEntityInfo 953b7ab6bfc35063f5c9a72463c6ce489baa10249a7fa510926d342a34b0d29e
GetEntityState 749c91f2a2353d98367b64f2995a0f5842ce92a08ec1ffb3e185540a91557fb5
GetNamedPoseBounds 59fa8dd2c68ba6771160cc66a628ac99fa95e2748fa0a43c2cc62a2e5f3f6fdc
GetNamedPoses c3d12ab920115bfd4733f6d20516adc3968fb438538540997c37e200e02b04e3
GetSimulationState 3362dcebee4b1afebbf9c4beee5c79c1455385aded62092a892d61fde8644f30
GetSimulatorFeatures abb9439c8cf196722a469fb6c68b44b484f198c2a1356ac38849a29c2a20a794
GetSpawnables 3bc0266bf8236058ff589c44512e013afe4f295427c39d44cff363d1c956bf36
LoadWorld f210682338f195f6f06191b46b20ec4992bddf485d33e2cffab2dd15341b4e3e
ResetSimulation 4ce285d7ff9b8ac70dcc95161f32bf54c05a6f4b13427990e41ab40c36c39646
SetEntityInfo 867fe2b6812f3e021859171f9b788560d66bb7079d640030baf6c0bb2dd2631e
SetEntityState ca210e7d2b66629ae133c8e1edf5246e618106d75c78ed0556c0e7a33c59ee5e
SetSimulationState a868b916dce49974f637ba252141258c4b07b0c06858b88af560e3eb6bfbcb30
SpawnEntities 41703a359ee032bf4fc230f144f531705ba039a2e97edeae1f7997dd83b04857
SpawnEntity d4c086345d4194a5fc4c9ae45095736ca4062b5cdac4d06a42dec93d683e03cf
StepSimulation 913fe0653690ce6bf8f09f316e6a626747012e9fca31e26719910d417aa8565c
UnloadWorld ac7f9a73df1b5b15015d854c5ac552b7726506e22f886c6792804f0b7f88b30b
simulation_interfaces/action: 1.5.1, of Jazzy; the same in 1.6.1, of Kilted
SimulateSteps f0837c898e1219cd73bf4c041feab41e8c533e8e1057e982744dba7b093467eb
unitree_go/msg: unitree_ros2 at eea2719, which gives no version
BmsCmd 815310dff4ebba1e0d37802dfdc56d4b5a849761f613954172bdb4476aed5aa2
BmsState a7fe45fbbb6a908bdee78baa3b93e962ed924c143481a696f95b6911ce30b871
IMUState 226772531e06ca5768dad7ae264221622e92ba1dbc7fcd7f8074351a23fe1c11
LowCmd 0da1142c994d184f6102948c3acf52b9557836cfe5062b924a1f08ac8b72dc34
LowState db5172cac933e3cfc0e705903343eb4eea42e65e224e9d726d3e672aec0caf0f
MotorCmd 4581f18a3bf58baad04f12f51747f2dd388f64aa2ac997d1d64777563c627fbf
MotorState 86fb56a4f6bebcba854e9b510225e6666ef46cf4ea13355870c2dd3c3478a88c
"""


def _read(table: str) -> dict[str, str]:
    hashes = {}
    for line in table.split("\n"):
        if ":" in line:
            scope = line.partition(":")[0]
        elif line:
            name, digest = line.split()
            hashes[f"{scope}/{name}"] = f"RIHS01_{digest}"
    return hashes


GENUINE = _read(GENUINE_TABLE)
# The feedback has the fields index and multi_dof_index from 6.3.0 on; this is 6.8.0.
GENUINE_SINCE_KILTED = GENUINE | _read(
    """
control_msgs/action: 6.8.0, of Kilted
FollowJointTrajectory ff29901b2693f5deb847e96084a1c2cdb26e70b7c847be21859b70a55fb29cf0
control_msgs/msg: 6.8.0, of Kilted
SteeringControllerStatus c5e01a345d3104d84631193fd94ed5d9781a4a6bed95de1744dfb42c752f2931
controller_manager_msgs/msg: 5.16.0, of Kilted
HardwareComponentState 42dd5e6ce049005558e2e8d12cbb0003087fb3b7914b69148a915d7267ec7618
controller_manager_msgs/srv: 5.16.0, of Kilted
ListHardwareComponents da29c2bbff9ec4f28d2815b9906ff51e419cebb6e79e216d4350110459b5164f
"""
)

GENUINE_SINCE_SIMULATION_INTERFACES_2 = _read(
    """
simulation_interfaces/msg: 2.1.0
Spawnable 8675aa686f0df1ed7874a6ec210fdce1ac1c07f4e49fc26ec7fb6fe729f6772e
simulation_interfaces/srv: 2.1.0
GetSpawnables 3e25fd827d8bcbd9db5e36ccb190efa22d6f6313897861268ab923bf091a992a
LoadWorld 87d0ded1bfddb40a74d0bedb963fdd592fbedb14d0057d597850404b73c338af
SetEntityState fba636c91d38832dbd4f6896ffce54ff98fd9929962b0533546b56ce00f988ac
SpawnEntity 66860313e11009faddbfc8568e5d410d1a11607fe75eeb1308671dc0406fe3a7
"""
)


def _share(package: str) -> Path:
    prefixes = [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]
    return next(path for p in prefixes if (path := Path(p, "share", package)).is_dir())


def _is_jazzy() -> bool:
    try:
        return bool(version("ros-jazzy-rclpy"))
    except PackageNotFoundError:
        return os.environ.get("ROS_DISTRO") == "jazzy"


def _hash(type_name: str) -> str:
    package, kind, name = type_name.split("/")
    described = json.loads((_share(package) / kind / f"{name}.json").read_text())
    return next(h["hash_string"] for h in described["type_hashes"] if h["type_name"] == type_name)


@pytest.mark.parametrize("type_name", GENUINE)
def test_the_type_hash_equals_the_genuine_one(type_name: str) -> None:
    genuine = GENUINE if _is_jazzy() else GENUINE_SINCE_KILTED
    if hasattr(SpawnEntity.Request, "entity_resource"):
        genuine = genuine | GENUINE_SINCE_SIMULATION_INTERFACES_2
    assert _hash(type_name) == genuine[type_name]


@pytest.mark.parametrize(
    "package",
    [
        *("control_msgs", "controller_manager_msgs", "ros_gz_interfaces", "tf2_msgs"),
        *("simulation_interfaces", "unitree_go"),
    ],
)
def test_every_type_of_the_package_is_compared_with_its_genuine_hash(package: str) -> None:
    built = {
        f"{package}/{file.parent.name}/{file.stem}" for file in _share(package).glob("*/*.json")
    }
    assert built == {name for name in GENUINE if name.startswith(f"{package}/")}


def test_the_middleware_announces_the_genuine_hash(
    ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    ros_node.create_publisher(TFMessage, "hash_probe", 1)
    assert spin_until(lambda: bool(ros_node.get_publishers_info_by_topic("hash_probe")))
    announced = ros_node.get_publishers_info_by_topic("hash_probe")[0].topic_type_hash
    assert str(announced) == GENUINE["tf2_msgs/msg/TFMessage"]


SPAWN_CODES = {
    "NAME_NOT_UNIQUE": 101,
    "NAME_INVALID": 102,
    "UNSUPPORTED_FORMAT": 103,
    "NO_RESOURCE": 104,
    "NAMESPACE_INVALID": 105,
    "RESOURCE_PARSE_ERROR": 106,
    "MISSING_ASSETS": 107,
    "UNSUPPORTED_ASSETS": 108,
    "INVALID_POSE": 109,
}
CONSTANTS: dict[type, dict[str, int]] = {
    FollowJointTrajectory.Result: {
        "SUCCESSFUL": 0,
        "INVALID_GOAL": -1,
        "INVALID_JOINTS": -2,
        "OLD_HEADER_TIMESTAMP": -3,
        "PATH_TOLERANCE_VIOLATED": -4,
        "GOAL_TOLERANCE_VIOLATED": -5,
    },
    JointComponentTolerance: {
        "X_AXIS": 1,
        "Y_AXIS": 2,
        "Z_AXIS": 3,
        "TRANSLATION": 4,
        "ROTATION": 5,
    },
    SwitchController.Request: {"BEST_EFFORT": 1, "STRICT": 2, "AUTO": 3, "FORCE_AUTO": 4},
    Entity: {
        "NONE": 0,
        "LIGHT": 1,
        "MODEL": 2,
        "LINK": 3,
        "VISUAL": 4,
        "COLLISION": 5,
        "SENSOR": 6,
        "JOINT": 7,
    },
    TF2Error: {
        "NO_ERROR": 0,
        "LOOKUP_ERROR": 1,
        "CONNECTIVITY_ERROR": 2,
        "EXTRAPOLATION_ERROR": 3,
        "INVALID_ARGUMENT_ERROR": 4,
        "TIMEOUT_ERROR": 5,
        "TRANSFORM_ERROR": 6,
    },
    Result: {
        "RESULT_FEATURE_UNSUPPORTED": 0,
        "RESULT_OK": 1,
        "RESULT_NOT_FOUND": 2,
        "RESULT_INCORRECT_STATE": 3,
        "RESULT_OPERATION_FAILED": 4,
    },
    Bounds: {"TYPE_EMPTY": 0, "TYPE_BOX": 1, "TYPE_CONVEX_HULL": 2, "TYPE_SPHERE": 3},
    EntityCategory: {
        "CATEGORY_OBJECT": 0,
        "CATEGORY_ROBOT": 1,
        "CATEGORY_HUMAN": 2,
        "CATEGORY_DYNAMIC_OBJECT": 4,
        "CATEGORY_STATIC_OBJECT": 5,
    },
    TagsFilter: {"FILTER_MODE_ANY": 0, "FILTER_MODE_ALL": 1},
    SimulationState: {
        "STATE_STOPPED": 0,
        "STATE_PLAYING": 1,
        "STATE_PAUSED": 2,
        "STATE_QUITTING": 3,
        "STATE_NO_WORLD": 4,
        "STATE_LOADING_WORLD": 5,
    },
    SimulatorFeatures: {
        "SPAWNING": 0,
        "DELETING": 1,
        "NAMED_POSES": 2,
        "POSE_BOUNDS": 3,
        "ENTITY_TAGS": 4,
        "ENTITY_BOUNDS": 5,
        "ENTITY_BOUNDS_BOX": 6,
        "ENTITY_BOUNDS_CONVEX": 7,
        "ENTITY_CATEGORIES": 8,
        "SPAWNING_RESOURCE_STRING": 9,
        "ENTITY_STATE_GETTING": 10,
        "ENTITY_STATE_SETTING": 11,
        "ENTITY_INFO_GETTING": 12,
        "ENTITY_INFO_SETTING": 13,
        "SPAWNABLES": 14,
        "SIMULATION_RESET": 20,
        "SIMULATION_RESET_TIME": 21,
        "SIMULATION_RESET_STATE": 22,
        "SIMULATION_RESET_SPAWNED": 23,
        "SIMULATION_STATE_GETTING": 24,
        "SIMULATION_STATE_SETTING": 25,
        "SIMULATION_STATE_PAUSE": 26,
        "STEP_SIMULATION_SINGLE": 31,
        "STEP_SIMULATION_MULTIPLE": 32,
        "STEP_SIMULATION_ACTION": 33,
        "WORLD_LOADING": 40,
        "WORLD_RESOURCE_STRING": 41,
        "WORLD_TAGS": 42,
        "WORLD_UNLOADING": 43,
        "WORLD_INFO_GETTING": 44,
        "AVAILABLE_WORLDS": 45,
        "SPAWNING_ENTITIES": 50,
    },
    SpawnResult: SPAWN_CODES,
    SpawnEntity.Response: SPAWN_CODES,
    SpawnEntities.Response: {"ENTITIES_SPAWN_FAILED": 150},
    SetEntityState.Response: {"INVALID_POSE": 101},
    SetSimulationState.Response: {
        "ALREADY_IN_TARGET_STATE": 101,
        "STATE_TRANSITION_ERROR": 102,
        "INCORRECT_TRANSITION": 103,
    },
    ResetSimulation.Request: {
        "SCOPE_DEFAULT": 0,
        "SCOPE_TIME": 1,
        "SCOPE_STATE": 2,
        "SCOPE_SPAWNED": 4,
        "SCOPE_ALL": 255,
    },
    LoadWorld.Response: {
        "UNSUPPORTED_FORMAT": 101,
        "NO_RESOURCE": 102,
        "RESOURCE_PARSE_ERROR": 103,
        "MISSING_ASSETS": 104,
        "UNSUPPORTED_ASSETS": 105,
        "UNSUPPORTED_ELEMENTS": 106,
    },
    SwitchController.Request: {"BEST_EFFORT": 1, "STRICT": 2, "AUTO": 3, "FORCE_AUTO": 4},
    UnloadWorld.Response: {"NO_WORLD_LOADED": 101},
    GetCurrentWorld.Response: {"NO_WORLD_LOADED": 101},
    GetAvailableWorlds.Response: {"DEFAULT_SOURCES_FAILED": 101},
}


@pytest.mark.parametrize("message", CONSTANTS, ids=lambda message: message.__name__)
def test_the_constants_are_the_genuine_ones(message: Any) -> None:
    constants = CONSTANTS[message]
    assert {name: getattr(message, name) for name in constants} == constants


def test_stepping_defaults_to_one_step() -> None:
    assert StepSimulation.Request().steps == 1
