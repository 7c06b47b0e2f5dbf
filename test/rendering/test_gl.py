"""Which OpenGL there is, and what is said where there is none."""

import os
import subprocess
import sys

import pytest

from mujoco_ros.rendering import egl, osmesa
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.gl import device, largest_side, open_context


@pytest.fixture
def no_libraries(monkeypatch):
    monkeypatch.setattr(egl, "LIBRARY", "libEGL-of-nobody.so")
    monkeypatch.setattr(osmesa, "LIBRARIES", ("libOSMesa-of-nobody.so",))


@pytest.mark.usefixtures("no_libraries")
def test_where_nothing_works_the_message_says_what_was_tried_and_what_to_install():
    with pytest.raises(RenderingError) as failure:
        open_context("auto")
    text = str(failure.value)
    for part in (
        "egl: libEGL-of-nobody.so",
        "osmesa: libOSMesa-of-nobody.so",
        "libegl1",
        "libosmesa6",
    ):
        assert part in text


@pytest.mark.usefixtures("no_libraries")
def test_a_backend_that_was_chosen_is_the_only_one_tried():
    with pytest.raises(RenderingError, match=r"osmesa: libOSMesa-of-nobody\.so") as failure:
        open_context("osmesa")
    assert "egl:" not in str(failure.value)


def test_an_unknown_backend_is_refused_with_the_choices():
    with pytest.raises(RenderingError, match="no backend 'glx'; choose among: auto, egl, osmesa"):
        open_context("glx")


def opened(backend: str):
    try:
        return open_context(backend)
    except RenderingError as error:
        pytest.skip(f"EGL: {error}")


def test_a_context_names_its_device():
    context = opened("auto")
    assert device(context)
    assert largest_side(context) >= 4096
    context.close()
    context.close()


def test_a_device_that_there_is_not_is_refused(monkeypatch):
    opened("egl").close()
    monkeypatch.setenv(egl.DEVICE_VARIABLE, "97")
    with pytest.raises(
        RenderingError, match=r"MUJOCO_EGL_DEVICE_ID must be a number from 0 to \d+, got '97'"
    ):
        open_context("egl")


def test_the_processor_is_chosen_by_the_number_of_its_device(monkeypatch):
    opened("egl").close()
    number = egl.software_device()
    if number is None:
        pytest.skip("EGL: no driver draws with the processor")
    monkeypatch.setenv(egl.DEVICE_VARIABLE, str(number))
    context = opened("egl")
    assert context.is_software
    context.close()


def test_who_draws_nothing_loads_no_opengl():
    program = (
        "import mujoco_ros.rendering.renderer, mujoco_ros.sim.simulation;"
        "maps = open('/proc/self/maps').read();"
        "print([name for name in ('libEGL', 'libOSMesa', 'libGLX', 'libOpenGL') if name in maps])"
    )
    environment = {key: value for key, value in os.environ.items() if key != "MUJOCO_GL"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
