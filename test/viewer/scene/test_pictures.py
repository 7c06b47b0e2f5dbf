"""The thread that draws pictures."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from mujoco_ros.rendering import gl
from mujoco_ros.viewer.scene.pictures import PictureJob, PictureRenderer


def test_any_failure_is_reported_and_the_thread_goes_on(monkeypatch):
    def fail() -> None:
        raise OSError("no driver")

    monkeypatch.setattr(gl, "open_context", fail)

    async def problems() -> list[str]:
        renderer, found = PictureRenderer(), asyncio.Queue()
        for _ in range(2):
            job = PictureJob(
                model=SimpleNamespace(),
                drawn=SimpleNamespace(),
                width=16,
                height=16,
                done=lambda _picture, problem: found.put_nowait(problem),
            )
            renderer.submit(job)
        try:
            return [await asyncio.wait_for(found.get(), 10.0) for _ in range(2)]
        finally:
            renderer.close()

    # Where a browser was driven before, this thread has a loop already.
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(asyncio.run, problems()).result()
    assert found == ["no pictures can be drawn: no driver"] * 2
