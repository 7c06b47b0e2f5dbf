"""The parameters of the simulator itself; those of robots are in control_specs.py."""

from mujoco_ros.bridge.child_processes import COMPANION_PARAMETERS
from mujoco_ros.bridge.diagnostics.limits import LIMITS, NEVER, limit_parameter
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.topics import RATES
from mujoco_ros.controllers.ros.parameter_specs import CONTROLLER_PARAMETERS
from mujoco_ros.model.scene.config import FASTEST_HZ, SLOWEST_HZ

PARAMETERS = (
    ParameterSpec(
        name="scene",
        default="humanoid",
        description="What is simulated: name of a shipped scene, or path of a scene YAML, MJCF, "
        "URDF or MJB file",
        read_only=True,
    ),
    ParameterSpec(
        name="real_time_factor",
        default=1.0,
        description="Simulated seconds per wall second; 0 is as fast as possible",
        low=0.0,
        high=1000.0,
    ),
    ParameterSpec(
        name="catch_up_limit",
        default=0.05,
        description="Largest lag behind the wall clock that is made up for, in seconds; "
        "what lies further back is dropped and counted",
        low=0.0,
        high=10.0,
    ),
    ParameterSpec(
        name="mode",
        default="realtime",
        description="Whether the clock follows the wall clock alone, or waits at every tick for "
        "those who command as well",
        choices=("realtime", "lockstep"),
    ),
    ParameterSpec(
        name="lockstep_sources",
        default="",
        description="For whose commands the clock waits in lockstep: topics of joint commands, "
        "each with its ticks per simulated second, such as 'joint_commands@200, "
        "left_arm/position_controller/commands@100'",
    ),
    ParameterSpec(
        name="lockstep_timeout",
        default=1.0,
        description="Wall time in seconds after which it is told that a source does not answer",
        low=0.001,
        high=3600.0,
    ),
    ParameterSpec(
        name="lockstep_policy",
        default="wait",
        description="What the clock does then: wait on, or proceed without the command and count "
        "that on /diagnostics",
        choices=("wait", "proceed"),
    ),
    ParameterSpec(
        name="active_keyframe",
        default="saved",
        description="Which keyframe ~/save_keyframe saves and ~/load_keyframe loads: one of the "
        "model, or any other name",
    ),
    ParameterSpec(
        name="realtime_priority",
        default=20,
        description="SCHED_FIFO priority of the physics thread where the system permits it, so that"
        " steps are not late while other programs are busy; given up when the machine is too slow, "
        "not taken for a run as fast as possible; 0 is none",
        low=0,
        high=99,
        read_only=True,
    ),
    ParameterSpec(
        name="on_divergence",
        default="reset",
        description="What happens when the simulation diverges",
        choices=("reset", "pause", "shutdown"),
        read_only=True,
    ),
    ParameterSpec(
        name="reset_time",
        default="rewind",
        description="What a reset of everything does to the clock: rewind it to zero, or let it "
        "continue, so that no listener sees time jump back; after divergence it always continues",
        choices=("rewind", "continue"),
    ),
    ParameterSpec(
        name="state_log",
        default="",
        description="File to write the full state to at every step, which must not exist; empty is "
        "none",
    ),
    ParameterSpec(
        name="state_log_every",
        default=1,
        description="So many steps make a row of the state log",
        low=1,
        high=1_000_000,
    ),
    ParameterSpec(
        name="simulation_interfaces_prefix",
        default="~/",
        description="What the names of the services of simulation_interfaces begin with",
        read_only=True,
    ),
    ParameterSpec(
        name="wrench_sign",
        default="child_on_parent",
        description="What a wrench says: the load that the child side of a sensor puts on its "
        "parent (a stance foot reads up, the weight carried), or the reverse",
        choices=("child_on_parent", "parent_on_child"),
        read_only=True,
    ),
    ParameterSpec(
        name="tf",
        default="base",
        description="Frames to publish: bases, free objects and sensors; all links as well "
        "(without robot_state_publisher); or none",
        choices=("base", "all", "none"),
        read_only=True,
    ),
    ParameterSpec(
        name="sensor_noise",
        default=False,
        description="Whether sensors have Gaussian noise of the deviation their model declares",
        read_only=True,
    ),
    ParameterSpec(
        name="seed",
        default=0,
        description="Seed of the sensor noise",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    ParameterSpec(
        name="external_wrench_timeout",
        default=0.0,
        description="Simulated time for which a message on external_wrench acts [s]; 0 is until the"
        " next one for its frame",
        low=0.0,
        high=3600.0,
    ),
    ParameterSpec(
        name="external_wrench_axes",
        default="frame",
        description="Axes in which messages on external_wrench are: those of the frame they name, "
        "or the world's; they act at the frame's origin either way",
        choices=("frame", "world"),
    ),
    ParameterSpec(
        name="ros2_control",
        default=False,
        description="Leave the controllers to ros2_control: robot_description carries "
        "<ros2_control> blocks, and only joint_commands is offered",
        read_only=True,
    ),
    *CONTROLLER_PARAMETERS,
    *COMPANION_PARAMETERS,
    *(
        ParameterSpec(
            name=f"publish_rate.{topic}",
            default=rate,
            description=f"Rate of {topic} in simulated time [Hz], rounded to whole steps; 0 is off",
            low=0.0,
            high=FASTEST_HZ,
            least=SLOWEST_HZ,
        )
        for topic, rate in RATES.items()
    ),
    *(
        ParameterSpec(
            name=limit_parameter(limit.name, level),
            default=threshold,
            description=f"/diagnostics: {level} above so much of: {limit.description}; "
            "negative is never",
            low=NEVER,
            high=limit.high,
        )
        for limit in LIMITS
        for level, threshold in (("warn", limit.warn), ("error", limit.error))
    ),
)
