"""OpenGL backends, and the errors without one."""

import os
import subprocess
import sys

import pytest

from benchmark.measurements.rendering import software_device
from mujoco_ros.rendering import gl
from mujoco_ros.rendering.egl import DEVICE_VARIABLE
from mujoco_ros.rendering.gl import RenderingError, open_context


@pytest.fixture
def no_libraries(monkeypatch):
    missing = {"egl": (("libEGL-missing.so",),), "osmesa": (("libOSMesa-missing.so",),)}
    monkeypatch.setattr(gl, "LIBRARIES", missing)


@pytest.mark.usefixtures("no_libraries")
def test_the_error_without_a_working_backend_lists_backends_and_packages_to_install():
    with pytest.raises(RenderingError) as failure:
        open_context("auto")
    text = str(failure.value)
    for part in (
        "egl: cannot load libEGL-missing.so",
        "osmesa: cannot load libOSMesa-missing.so",
        "libegl1",
        "libosmesa6",
    ):
        assert part in text


@pytest.mark.usefixtures("no_libraries")
def test_a_selected_backend_is_the_only_one_tried():
    with pytest.raises(RenderingError, match=r"osmesa: cannot load libOSMesa-missing") as failure:
        open_context("osmesa")
    assert "egl:" not in str(failure.value)


def test_an_unknown_backend_is_refused_with_the_choices():
    with pytest.raises(
        RenderingError, match="'glx' does not exist; choose one of: auto, egl, osmesa"
    ):
        open_context("glx")


def opened(backend: str):
    try:
        return open_context(backend)
    except RenderingError as error:
        pytest.skip(f"EGL: {error}")


def test_a_context_names_its_device():
    context = opened("auto")
    assert context.device
    assert context.largest_side >= 4096
    context.close()
    context.close()


def test_the_environment_of_a_process_that_renders_selects_no_other_platform():
    opened("auto").close()
    assert "PYOPENGL_PLATFORM" not in os.environ


def run(program: str, **variables: str) -> str:
    """Run a program in its own process, because MuJoCo opens one EGL device per process."""
    environment = {key: value for key, value in os.environ.items() if key != "MUJOCO_GL"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


OPEN = """
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.rendering.gl import open_context
try:
    context = open_context("egl")
    print(context.backend, context.is_software)
except RenderingError as error:
    print(error)
"""


@pytest.mark.parametrize("number", ["97", "first"])
def test_a_device_that_does_not_exist_is_refused(number):
    opened("egl").close()
    text = run(OPEN, **{DEVICE_VARIABLE: number})
    assert DEVICE_VARIABLE in text
    assert number in text


def test_the_processor_is_chosen_by_the_number_of_its_device():
    opened("egl").close()
    number = software_device()
    if number is None:
        pytest.skip("EGL: no driver renders on the processor")
    assert run(OPEN, **{DEVICE_VARIABLE: str(number)}) == "EGL True"


def test_without_an_egl_driver_osmesa_is_opened_or_both_are_reported():
    text = run(OPEN.replace('"egl"', '"auto"'), __EGL_VENDOR_LIBRARY_DIRS="/nonexistent")
    assert text.startswith("OSMesa True") or ("egl: " in text and "osmesa: " in text)


def test_a_process_that_does_not_render_loads_no_opengl():
    program = (
        "import mujoco_ros.rendering.renderer, mujoco_ros.sim.simulation;"
        "maps = open('/proc/self/maps').read();"
        "print([name for name in ('libEGL', 'libOSMesa', 'libGLX', 'libOpenGL') if name in maps])"
    )
    assert run(program) == "[]"
