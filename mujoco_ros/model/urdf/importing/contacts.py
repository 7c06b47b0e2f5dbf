"""Which links of a robot cannot touch each other."""

from collections.abc import Iterator

import mujoco


def exclude_base_neighbours(spec: mujoco.MjSpec) -> None:
    """Exclude contacts between what is fixed to the world and the links that move on it.

    URDF takes neighbouring links to overlap at their joint, and MuJoCo filters their contacts, but
    not those of a link welded to the world with its neighbours.
    """
    fixed = [body for root in spec.worldbody.bodies if not root.joints for body in _welded(root)]
    neighbours = [child for body in fixed for child in body.bodies if child.joints]
    links = [link.name for child in neighbours for link in _welded(child) if link.geoms]
    for base in fixed:
        if base.geoms:
            for link in links:
                spec.add_exclude(bodyname1=base.name, bodyname2=link)


def _welded(body: mujoco.MjsBody) -> Iterator[mujoco.MjsBody]:
    """Yield `body` and all that is fixed to it."""
    stack = [body]  # a chain may be longer than functions can call each other
    while stack:
        body = stack.pop()
        yield body
        stack += [child for child in reversed(body.bodies) if not child.joints]
