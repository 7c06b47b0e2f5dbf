"""Random trees of bodies with joints, actuators and sensors, as MJCF."""

import numpy as np

_SENSORS = ("gyro", "accelerometer", "force", "torque", "velocimeter", "magnetometer", "touch")
_INTEGRATORS = ("Euler", "implicit", "implicitfast", "discrete")


def random_mjcf(random: np.random.Generator) -> str:
    """Return a model of one robot, fixed or floating, with up to eight joints."""
    count = int(random.integers(1, 9))
    children: list[list[int]] = [[] for _ in range(count)]
    for body in range(1, count):
        children[int(random.integers(0, body))].append(body)
    kinds = [str(random.choice(["hinge", "hinge", "slide", "ball"])) for _ in range(count)]
    kinds[0] = "hinge"

    def body(index: int) -> str:
        x, y, z = random.uniform(-0.3, 0.3, 3)
        kind, axis = kinds[index], " ".join(f"{each:.3f}" for each in random.normal(size=3))
        limits = 'range="-1 1"' if random.random() < 0.5 and kind != "ball" else ""
        turns = f'axis="{axis}"' if kind != "ball" else ""
        return (
            f'<body name="body{index}" pos="{x:.3f} {y:.3f} {z:.3f}">'
            f'<joint name="joint{index}" type="{kind}" {turns} {limits} damping="0.5" '
            f'armature="{random.uniform(0.01, 0.1):.3f}"/>'
            f'<geom type="{random.choice(["sphere", "capsule"])}" size="0.05 0.1" mass="0.5"/>'
            f'<site name="site{index}" size="0.06"/>'
            + "".join(body(child) for child in children[index])
            + "</body>"
        )

    driven = [i for i in range(count) if kinds[i] != "ball" and random.random() < 0.8] or [0]
    actuators = ""
    for index in driven:
        kind = str(random.choice(["motor", "position", "velocity"]))
        gain = {
            "motor": f'gear="{random.uniform(1, 9):.2f}"',
            "position": 'kp="40"',
            "velocity": 'kv="3"',
        }[kind]
        force = 'forcerange="-5 5"' if random.random() < 0.5 else ""
        actuators += f'<{kind} joint="joint{index}" {gain} {force}/>'
    sensors = '<framequat objtype="site" objname="site0"/>'
    for index in range(count):
        for kind in random.choice(_SENSORS, size=2, replace=False):
            sensors += f'<{kind} site="site{index}"/>'
        if kinds[index] != "ball":
            sensors += f'<jointpos joint="joint{index}"/>'
    root = "<freejoint/>" if random.random() < 0.5 else ""
    base = '<geom type="box" size="0.1 0.1 0.05" mass="3"/><site name="base"/>'
    timestep, solver = random.choice([0.0005, 0.001, 0.002]), random.choice(["Newton", "CG"])
    return (
        f'<mujoco><option timestep="{timestep}" integrator="{random.choice(_INTEGRATORS)}" '
        f'cone="{random.choice(["pyramidal", "elliptic"])}" solver="{solver}" '
        f'jacobian="{random.choice(["dense", "sparse"])}"/>'
        '<worldbody><geom type="plane" size="0 0 1"/>'
        f'<body name="trunk" pos="0 0 {random.uniform(0.2, 0.8):.2f}">{root}{base}{body(0)}</body>'
        f"</worldbody><actuator>{actuators}</actuator><sensor>{sensors}</sensor></mujoco>"
    )
