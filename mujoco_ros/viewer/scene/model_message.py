"""The description of a model for pages: what it takes to draw its geoms, and names."""

from typing import Any

import mujoco
import numpy as np

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.scene.options import choices

_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


def model_message(state: SharedState, assets: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the message that begins a model on a page."""
    model = state.model
    visual, extent = model.vis, float(model.stat.extent)
    is_plane = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    return {
        "model": {
            "version": version,
            "scene": str(state.metadata["scene"]),
            "assets": assets,
            "planes": [{"size": _floats(size)} for size in model.geom_size[is_plane]],
            "materials": [
                {
                    "texture": int(model.mat_texid[material, _RGB]),
                    "uniform": bool(model.mat_texuniform[material]),
                    "repeat": _floats(model.mat_texrepeat[material]),
                }
                for material in range(model.nmat)
            ],
            "extent": extent,
            "near": float(visual.map.znear) * extent,
            "far": float(visual.map.zfar) * extent,
            "fovy": float(visual.global_.fovy),
            "orthographic": bool(visual.global_.orthographic),
            "fog": {
                "start": float(visual.map.fogstart) * extent,
                "end": float(visual.map.fogend) * extent,
                "colour": _floats(visual.rgba.fog[:3]),
            },
            "haze": {"share": float(visual.map.haze), "colour": _floats(visual.rgba.haze[:3])},
            "shadow": {
                "size": int(visual.quality.shadowsize),
                "clip": float(visual.map.shadowclip) * extent,
                "scale": float(visual.map.shadowscale),
            },
            "slices": int(visual.quality.numslices),
            "stacks": int(visual.quality.numstacks),
            "glow": float(visual.global_.glow),
            "cameras": [model.camera(camera).name for camera in range(model.ncam)],
            "orthographic_cameras": np.flatnonzero(model.cam_projection).tolist(),
            "geom_bodies": model.geom_bodyid.tolist(),
            "choices": choices(),
        }
    }


def _floats(values: Any) -> list[float]:
    return [float(value) for value in values]
