"""The task page in a real browser: sample, orbit, make a mistake and mend it, run the expert, by keyboard alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

from browser import PROGRAM, Browser
from handloom.tasks.config.loading import library as shipped_tasks
from handloom.viewer.library import Library
from handloom.viewer.view_app import ViewOptions, view_server
from handloom.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no Chromium")]

STATUS = "document.querySelector('.task-bar [role=status]')?.textContent"
AREA = "document.querySelector('.yaml-area')"
HOSTILE = (
    *("<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "<svg/onload=window.hacked=1>"),
    *('"><script>window.hacked=1</script>', "';window.hacked=1;//", "</textarea><script>window.hacked=1</script>"),
    *(
        "javascript:window.hacked=1",
        "{{constructor.constructor('window.hacked=1')()}}",
        "${window.hacked=1}",
        "`+hacked`",
    ),
    *(
        "<iframe srcdoc='<script>parent.hacked=1</script>'>",
        "<a href='javascript:window.hacked=1'>x</a>",
        "<b>bold</b>",
    ),
    *(
        "&lt;script&gt;",
        "\u202ereversed",
        "\u0000null".replace("\u0000", "\ufffd"),
        "]]><script>window.hacked=1</script>",
    ),
    *("<style>*{display:none}</style>", "<base href=//evil.example>", "<meta http-equiv=refresh content=0>"),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "my_task.yaml"
    path.write_text(shipped_tasks()["fr3_pick_place"].read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def server(file: Path) -> Iterator[WebServer]:
    started = view_server(Library([], [str(file)]), ViewOptions(edit=True))
    started.start()
    yield started
    started.close()


@pytest.fixture
def page(server: WebServer, file: Path) -> Iterator[Browser]:
    file.write_text(shipped_tasks()["fr3_pick_place"].read_text(encoding="utf-8"), encoding="utf-8")
    with Browser(size=(1440, 900)) as browser:
        browser.open(server.address)
        browser.wait(f"{STATUS} === 'Ready'", "the first scene")
        yield browser
        assert browser.errors == []
        assert browser.run("window.hacked") is None


def press(page: Browser, key: str, code: str = "", *, ctrl: bool = False, shift: bool = False) -> None:
    """Press and release a key as a person does, with what it types."""
    text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 and not ctrl else "")
    codes = {
        "Enter": 13,
        "Tab": 9,
        "Escape": 27,
        "ArrowLeft": 37,
        "ArrowUp": 38,
        "ArrowRight": 39,
        "ArrowDown": 40,
        "Home": 36,
    }
    facts = {
        "key": key,
        "code": code or key,
        "modifiers": 2 * ctrl + 8 * shift,
        "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())),
    }
    page.call("Input.dispatchKeyEvent", type="keyDown", text=text, **facts)
    page.call("Input.dispatchKeyEvent", type="keyUp", **facts)


def put_cursor(page: Browser, before: str) -> None:
    """Put the cursor in front of some words of the text."""
    page.run(
        f"(() => {{ const a = {AREA}; const k = a.value.indexOf({json.dumps(before)}); a.focus(); "
        "a.setSelectionRange(k, k); })()"
    )


def wait_for_mistakes(page: Browser, count: int) -> None:
    page.wait(f"document.querySelectorAll('.task-remarks .bad').length === {count}", f"{count} mistakes")


def test_scenes_are_sampled_live(page: Browser) -> None:
    words = "document.querySelector('.task-words').textContent"
    first = page.run(words)
    shown = "[...document.querySelectorAll('.task-picture img')].filter((image) => image.naturalWidth > 100).length"
    page.wait(f"{shown} === 2", "both cameras")
    assert page.run("document.querySelectorAll('.task-terms .chip.bad').length") >= 1
    page.run("document.querySelector('button[aria-label=\"Next scene\"]').click()")
    page.wait(f"{STATUS} === 'Ready' && {words} !== {json.dumps(first)} && {shown} === 2", "another scene")


def test_the_view_is_orbited_by_mouse_and_keyboard(page: Browser) -> None:
    eye = "document.querySelector('.scene3d-canvas').dataset.eye"
    first = page.run(eye)
    x, y = page.run(
        "(() => { const box = document.querySelector('.scene3d-canvas').getBoundingClientRect(); "
        "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    mouse = {"button": "left", "buttons": 1, "clickCount": 1, "pointerType": "mouse"}
    page.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 80, y=y + 20, **mouse)
    page.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 80, y=y + 20, **mouse)
    page.wait(f"{eye} !== {json.dumps(first)}", "the view to turn")
    page.run("document.querySelector('.scene3d-canvas').focus()")
    for key in ("ArrowLeft", "ArrowUp", "+"):
        before = page.run(eye)
        press(page, key)
        page.wait(f"{eye} !== {json.dumps(before)}", f"the view to answer to {key}")
    press(page, "Home")
    page.wait(f"{eye} === {json.dumps(first)}", "the first view")


def test_a_mistake_is_shown_at_its_line_and_can_be_mended(page: Browser, file: Path) -> None:
    put_cursor(page, "regions:")
    page.call("Input.insertText", text="x")
    wait_for_mistakes(page, 1)
    line = page.run(f"{AREA}.value.split('\\n').findIndex((line) => line.includes('xregions')) + 1")
    assert page.run("document.querySelector('.yaml-gutter .bad').textContent") == str(line)
    assert "did you mean 'regions'" in page.run("document.querySelector('.yaml-line.bad').textContent")
    assert page.run(f"{AREA}.getAttribute('aria-invalid')") == "true"
    assert page.run(f"{STATUS}") == "1 mistake"
    press(page, "z", "KeyZ", ctrl=True)
    wait_for_mistakes(page, 0)
    page.wait(f"{STATUS} === 'Ready'", "the scene of the mended text")
    put_cursor(page, "max_episode_length: 600")
    page.call("Input.insertText", text="fps: 20\n      ")
    page.wait("!document.querySelector('.task-editor button:last-of-type').disabled", "the text to be worth saving")
    press(page, "s", "KeyS", ctrl=True)
    page.wait("document.getElementById('toast').textContent.startsWith('Saved')", "the file to be saved")
    assert "fps: 20" in file.read_text(encoding="utf-8")


def test_keys_objects_and_skills_are_completed_by_keyboard(page: Browser) -> None:
    put_cursor(page, "max_episode_length")
    page.call("Input.insertText", text="varia")
    page.wait("!document.querySelector('.yaml-choices').hidden", "suggestions")
    press(page, "Enter")
    page.wait(f"{AREA}.value.includes('variant: max_episode')", "the key")
    page.call("Input.insertText", text="rand")
    page.wait("document.querySelector('.yaml-choices [aria-selected=true] b')?.textContent === 'randomized'", "values")
    press(page, "Tab")
    page.wait(f"{AREA}.value.includes('variant: randomized')", "the value")


def test_the_expert_is_watched_and_the_terms_turn_green(page: Browser) -> None:
    press(page, "Enter", ctrl=True) if page.run(f"{AREA}.focus() || true") else None
    page.wait(f"{STATUS} === 'Success'", "the expert")
    assert page.run("document.querySelectorAll('.task-plans li').length") >= 2
    assert page.run("document.querySelectorAll('.task-spans .chip.good').length") == 2
    scrubber = "document.querySelector('.task-view input[type=range]')"
    page.run(f"(() => {{ const s = {scrubber}; s.value = s.max; s.dispatchEvent(new Event('input')); }})()")
    page.wait(
        "[...document.querySelectorAll('.task-terms .chip')].every((chip) => chip.classList.contains('good'))",
        "the goal",
    )
    page.run(f"(() => {{ const s = {scrubber}; s.value = 0; s.dispatchEvent(new Event('input')); }})()")
    page.wait("document.querySelectorAll('.task-terms .chip.bad').length >= 1", "the goal of the first frame")


def test_a_failure_says_where_and_why(page: Browser) -> None:
    put_cursor(page, "edge: 0.05")
    page.run(f"{AREA}.setSelectionRange({AREA}.selectionStart, {AREA}.selectionStart + 10)")
    page.call("Input.insertText", text="edge: 0.13")
    page.wait(f"{STATUS} === 'Ready'", "the larger cube")
    page.run("document.querySelector('.task-bar .primary').click()")
    page.wait(f"{STATUS}?.startsWith('Failed')", "the expert to fail")
    said = page.run("document.querySelector('.task-failure').textContent")
    assert "grasp: no_grasp" in said
    assert "in pick" in said
    assert "cube has no place" in said


def test_the_keyboard_reaches_everything_and_is_never_caught(page: Browser) -> None:
    page.run("document.activeElement.blur()")
    reached = []
    for _ in range(40):
        press(page, "Tab")
        reached.append(
            page.run(
                "(() => { const e = document.activeElement; "
                "return e.getAttribute('aria-label') ?? e.textContent.trim().slice(0, 30); })()"
            )
        )
    for wanted in ("Task", "Next scene", "Run the expert", "Check", "Task file (YAML)", "Viewpoint", "Reset view"):
        assert wanted in reached, reached
    assert any(name.startswith("3D view") for name in reached)


def set_text(page: Browser, text: str) -> None:
    page.run(f"(() => {{ const a = {AREA}; a.value = {json.dumps(text)}; a.dispatchEvent(new Event('input')); }})()")


def test_hostile_text_runs_no_script(page: Browser) -> None:
    """In comments, names, sentences, keys and values; what is said about them shows them as they are."""
    original = page.run(f"{AREA}.value")
    markup = "main script, main iframe, main style, main base, main a[href^=javascript], main img[src=x]"
    for words in HOSTILE:
        text = original.replace("tasks:", f"# {words}\ntasks:", 1)
        text = text.replace('"Put the {cube} on the {plate}."', json.dumps(words), 1)
        set_text(page, text.replace("    env_map:", f"    {json.dumps(words)}: 1\n    env_map:", 1))
        said = "[...document.querySelectorAll('.task-remarks .bad')].map((row) => row.textContent).join(' ')"
        page.wait(f"{said}.includes({json.dumps(words[:10])})", f"what is said about {words}")
        assert page.run(f"document.querySelectorAll({json.dumps(markup)}).length") == 0
    text = original.replace('"Put the {cube} on the {plate}."', json.dumps(" ".join(HOSTILE[:3])), 1)
    set_text(page, text[: text.index("      paraphrases:")] + text[text.index("      max_episode_length") :])
    page.wait("document.querySelector('.task-words').textContent.includes('<script>')", "the hostile sentence, as text")
    assert page.run("window.hacked") is None


def test_it_fits_a_phone(server: WebServer) -> None:
    with Browser(size=(390, 844)) as browser:
        browser.open(server.address)
        browser.wait(f"{STATUS} === 'Ready'", "the first scene")
        assert browser.run("document.documentElement.scrollWidth") <= 390
        assert browser.run("document.querySelector('.scene3d-canvas').getBoundingClientRect().width") > 250
        assert browser.errors == []
