"""What the page shows when Studio's program cannot run."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from mujoco_ros.viewer.web.page_files import script_part

ADDRESS = "http://localhost/"
NO_WEBGL = "This browser has no WebGL 2, which the viewer needs.\n"
STOPPED = "The viewer has stopped: "
RELOAD = "\nReload this page, or use the phone page."


@pytest.fixture
def page(tabs: Any) -> Iterator[Any]:
    page = tabs.new_page()
    body = f"<html><head>{script_part('page_failure').decode()}</head><body></body></html>"
    page.route("**/*", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(ADDRESS)
    yield page
    page.close()


def shown(page: Any) -> str:
    page.wait_for_selector("#failure")
    return str(page.inner_text("#failure"))


def test_a_page_that_runs_shows_no_failure(page):
    frame = "() => new Promise(done => requestAnimationFrame(done))"
    context = "document.createElement('canvas').getContext('webgl2') !== null"
    page.evaluate(frame)
    assert page.evaluate(context)
    assert not page.evaluate("pageFailure.hasFailed || document.getElementById('failure')")


def test_a_browser_without_webgl_2_shows_what_it_lacks(page):
    page.evaluate(
        """() => {
            const canvas = document.createElement("canvas");
            canvas.getContext("2d"); // a canvas has one kind of context
            canvas.getContext("webgl2");
        }"""
    )
    assert shown(page).startswith(NO_WEBGL)
    assert page.evaluate("pageFailure.hasFailed")


def test_an_exception_in_a_frame_is_shown(page):
    page.evaluate("requestAnimationFrame(() => { throw new TypeError('too large'); })")
    assert shown(page) == f"{STOPPED}TypeError: too large{RELOAD}"


def test_a_program_that_cannot_start_is_shown(page):
    page.evaluate(
        """() => {
            const error = new RangeError("could not allocate memory");
            window.dispatchEvent(new ErrorEvent("error", { error, filename: "/web_client.js" }));
        }"""
    )
    assert shown(page) == f"{STOPPED}RangeError: could not allocate memory{RELOAD}"


def test_an_aborted_program_is_shown(page):
    page.evaluate("() => { Promise.reject(new WebAssembly.RuntimeError('Aborted()')); }")
    assert shown(page) == f"{STOPPED}RuntimeError: Aborted(){RELOAD}"


def test_errors_of_other_scripts_do_not_stop_the_page(page):
    page.evaluate("() => { Promise.reject(new Error('of an extension')); }")
    page.evaluate("setTimeout(() => { throw new Error('of an extension'); })")
    page.wait_for_timeout(300)
    assert not page.evaluate("pageFailure.hasFailed")


def test_a_page_that_loses_its_graphics_is_loaded_again_but_not_over_and_over(page):
    lose = """() => {
        const context = document.createElement("canvas").getContext("webgl2");
        context.getExtension("WEBGL_lose_context").loseContext();
    }"""
    with page.expect_event("load"):
        page.evaluate(lose)
    assert not page.evaluate("pageFailure.hasFailed")
    page.evaluate(lose)
    assert shown(page) == f"{STOPPED}the browser has lost its graphics context{RELOAD}"


@pytest.mark.parametrize(
    "missing",
    [
        "fetch('a.wasm').catch(() => { throw new WebAssembly.RuntimeError('Aborted()'); })",
        "document.head.append(Object.assign(document.createElement('script'), {src: 'a.js'}))",
    ],
    ids=["program", "script"],
)
def test_a_page_whose_viewer_starts_again_is_loaded_again_when_it_is_served(page, missing):
    requests = []

    def serve(route: Any) -> None:
        """Serve nothing until the page was requested twice."""
        path = urlsplit(route.request.url).path
        requests.append(path)
        if requests.count("/") > 1:
            route.fallback()
        else:
            route.abort()

    page.route("**/*", serve)
    with page.expect_event("load"):
        page.evaluate(f"() => {{ {missing}; }}")
    assert requests[1:] == ["/", "/", "/"], "one that fails, one that is served, and the new page"
    assert not page.evaluate("pageFailure.hasFailed || document.getElementById('failure')")


def test_a_page_whose_files_are_always_missing_is_not_loaded_again_for_ever(page):
    lost = "document.head.append(Object.assign(document.createElement('script'), {src: 'a.js'}))"
    page.route("**/a.js", lambda route: route.fulfill(status=404))
    page.evaluate("sessionStorage.setItem('reloads', JSON.stringify([Date.now(), 4]))")
    with page.expect_event("load"):
        page.evaluate(f"() => {{ {lost}; }}")
    assert not page.evaluate("pageFailure.hasFailed")
    page.evaluate(f"() => {{ {lost}; }}")
    assert shown(page) == f"{STOPPED}its program cannot be loaded{RELOAD}"


def test_a_page_that_its_viewer_refuses_now_shows_the_reason(page):
    refuse = {"status": 401, "body": "no token", "content_type": "text/plain"}
    page.route("**/", lambda route: route.fulfill(**refuse))
    page.route("**/b.wasm", lambda route: route.abort())
    with page.expect_event("load"):
        page.evaluate("() => { fetch('b.wasm').catch(() => {}); }")
    assert page.inner_text("body") == "no token"
