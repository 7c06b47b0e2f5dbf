"""Excluded contacts between links of a URDF."""

from collections.abc import Iterator

import mujoco


def exclude_base_neighbours(spec: mujoco.MjSpec) -> None:
    """Exclude contacts between links fixed to the world and the links that move on them.

    In a URDF, links overlap at their joint. MuJoCo filters such contacts, except those of a link
    welded to the world.
    """
    fixed = [body for root in spec.worldbody.bodies if not root.joints for body in _welded(root)]
    neighbours = [child for body in fixed for child in body.bodies if child.joints]
    links = [link.name for child in neighbours for link in _welded(child) if link.geoms]
    for base in fixed:
        if base.geoms:
            for link in links:
                spec.add_exclude(bodyname1=base.name, bodyname2=link)


def _welded(body: mujoco.MjsBody) -> Iterator[mujoco.MjsBody]:
    """Yield a body and all bodies that are fixed to it."""
    stack = [body]  # a loop, because a chain may exceed the recursion limit
    while stack:
        body = stack.pop()
        yield body
        stack += [child for child in reversed(body.bodies) if not child.joints]
