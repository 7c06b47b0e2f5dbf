"""Install mujoco_ros as an ament_python package, or into a plain virtual environment."""

from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from setuptools import Extension, find_packages, setup

ROOT = Path(__file__).resolve().parent
MANIFEST = ElementTree.parse(ROOT / "package.xml").getroot()
NAME = MANIFEST.findtext("name", "")
SHARED_FOLDERS = ("config", "launch", "urdf_mjcf")
PLANNING = ["mink>=1.3", "ompl>=2.0", "qpsolvers", "toppra>=0.6.10", "daqp>=0.11"]
IMAGES = ["opencv-python-headless<5"]
# The shipped evaluations are of controllers that plan, and that see by a camera.
EXTRAS = {
    "images": IMAGES,
    "viewer": [
        "nicegui>=3.18",
        "fastapi",
        "pydantic",
        "starlette",
        "uvicorn",
        *IMAGES,
    ],
    "planning": PLANNING,
    "evaluation": ["matplotlib", *PLANNING, *IMAGES],
    "diagrams": ["pygraphviz"],
    "decomposition": ["coacd"],
    "policy": ["onnxruntime>=1.20"],
    "cluster": ["ray>=2.50"],
    "video": ["av>=14"],
}

# The engine's headers come with its package.
ENGINE = find_spec("mujoco")
FOLDERS = ENGINE.submodule_search_locations or [] if ENGINE else []
# Without a compiler the package installs, too: Python does what is compiled here.
NATIVE = Extension(
    f"{NAME}.native.compiled",
    [f"{NAME}/native/{part}.c" for part in ("messages", "sender", "steps", "callbacks")],
    include_dirs=[str(Path(folder) / "include") for folder in FOLDERS],
    depends=[f"{NAME}/native/compiled.h"],
    # As in Python, no product is fused with a sum.
    extra_compile_args=["-O2", "-std=gnu11", "-ffp-contract=off", "-Wall", "-Wextra"],
    py_limited_api=True,  # it uses no header of Python
    optional=True,
)


def shared_files() -> list[tuple[str, list[str]]]:
    """Return the files of share/mujoco_ros by folder, as in the source tree."""
    entries = [(f"share/{NAME}", ["package.xml"])]
    for top in SHARED_FOLDERS:
        for folder in sorted(p for p in [ROOT / top, *(ROOT / top).rglob("*")] if p.is_dir()):
            if folder.name == "__pycache__":
                continue
            files = [str(f.relative_to(ROOT)) for f in sorted(folder.iterdir()) if f.is_file()]
            if files:
                entries.append((f"share/{NAME}/{folder.relative_to(ROOT)}", files))
    return entries


if __name__ == "__main__":
    maintainer = MANIFEST.find("maintainer")
    assert maintainer is not None
    setup(
        name=NAME,
        version=MANIFEST.findtext("version"),
        description=MANIFEST.findtext("description"),
        maintainer=maintainer.text,
        maintainer_email=maintainer.get("email"),
        license=MANIFEST.findtext("license"),
        packages=find_packages(include=[NAME, f"{NAME}.*"]),
        package_data={
            NAME: [
                "controllers/library/*/*.yaml",
                "controllers/library/*/*.onnx",
                "viewer/scene/static/*",
                "viewer/page/static/*",
            ]
        },
        data_files=[
            ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
            *shared_files(),
        ],
        python_requires=">=3.11",
        install_requires=[
            *("lxml", "lz4", "mcap>=1.6", "mujoco>=4.0", "numpy", "PyYAML", "pycollada", "regex"),
            *("scipy", "trimesh", "xacro", "zstandard"),
        ],
        extras_require={
            **EXTRAS,
            "all": sorted({requirement for extra in EXTRAS.values() for requirement in extra}),
            "test": ["pytest"],
        },
        ext_modules=[NATIVE],
        zip_safe=False,
        entry_points={
            "console_scripts": [
                "sim = mujoco_ros.cli.sim:main",
                "cameras = mujoco_ros.cli.cameras:main",
                "controller = mujoco_ros.cli.controller:main",
                "viewer = mujoco_ros.cli.viewer:main",
                "evaluate = mujoco_ros.cli.evaluate:main",
                "export_log = mujoco_ros.cli.export_log:main",
                "fit = mujoco_ros.cli.fit:main",
                "export_urdf = mujoco_ros.cli.export_urdf:main",
                "import_policy = mujoco_ros.cli.import_policy:main",
                "record = mujoco_ros.cli.record:main",
                "replay = mujoco_ros.cli.replay:main",
                "draw_controller = mujoco_ros.cli.draw_controller:main",
                "check_robot = mujoco_ros.cli.check_robot:main",
                "export_moveit_scene = mujoco_ros.cli.export_moveit_scene:main",
                "export_map = mujoco_ros.cli.export_map:main",
                "new_extension = mujoco_ros.cli.new_extension:main",
            ],
        },
    )
