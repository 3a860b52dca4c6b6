"""The floor of the pages: who may ask what, ranges of files, answers that come piece by piece, hostile paths."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("uvicorn")

from handloom.errors import InputError, NotFoundError
from handloom.web import Request, Response, Route, StaticFiles, WebApp, WebServer, json_response
from handloom.web.exchange import LINES, file_response

TOKEN = "sesame-sesame-sesame"


class Page:
    """A page with a few requests, and what a browser would say to it."""

    def __init__(self, folder: Path, *, edit: bool = False) -> None:
        (folder / "page" / "sub").mkdir(parents=True)
        (folder / "page" / "index.html").write_text("<p>hello", encoding="utf-8")
        (folder / "page" / "sub" / "code.js").write_text("1", encoding="utf-8")
        (folder / "page" / "notes.py").write_text("secret", encoding="utf-8")
        (folder / "secret.txt").write_text("secret", encoding="utf-8")
        (folder / "page" / "link.js").symlink_to(folder / "secret.txt")
        (folder / "film.mp4").write_bytes(bytes(range(256)) * 4000)
        self.closed = threading.Event()
        self.written: list[Any] = []
        app = WebApp(
            TOKEN,
            StaticFiles({"": folder / "page"}),
            routes=[
                Route("GET", "/api/say/{word}", lambda request: json_response({"word": request.places["word"]})),
                Route("GET", "/api/film.mp4", lambda request: file_response(folder / "film.mp4", request)),
                Route("GET", "/api/bad/{kind}", self._bad),
                Route("POST", "/api/keep", self._keep, edits=True),
                Route("POST", "/api/lines", lambda request: Response(body=self._lines(), kind=LINES)),
            ],
            edit=edit,
            keep_token=True,
        )
        self.server = WebServer(app)
        self.server.start()

    def _bad(self, request: Request) -> Response:
        raise {"input": InputError("wrong"), "none": NotFoundError("no such"), "fault": ZeroDivisionError("x")}[
            request.places["kind"]
        ]

    def _keep(self, request: Request) -> Response:
        self.written.append(request.json())
        return json_response({})

    def _lines(self) -> Iterator[bytes]:
        try:
            for number in range(10_000):  # Longer than any test waits: only a page that goes ends it.
                yield json.dumps(number).encode() + b"\n"
                time.sleep(0.01)
        finally:
            self.closed.set()

    def ask(
        self, path: str, method: str = "GET", *, token: bool = True, body: bytes | None = None, **headers: str
    ) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            named["Cookie"] = f"other=1; handloom_{self.server.port}={TOKEN}"
        connection.request(method, path, body=body, headers=named)
        answer = connection.getresponse()
        answer.content = answer.read()  # type: ignore[attr-defined]
        connection.close()
        return answer


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    page = Page(tmp_path)
    yield page
    page.server.close()


def test_the_address_gives_a_cookie_and_loses_its_token(page: Page) -> None:
    answer = page.ask(f"/?token={TOKEN}", token=False)
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert page.ask("/api/say/x", token=False, Cookie=cookie.partition(";")[0]).status == 200
    assert page.ask("/?token=wrong", token=False).status == 403


def test_requests_without_the_token_or_of_another_origin_are_refused(page: Page) -> None:
    assert page.ask("/api/say/x", token=False).status == 403
    assert page.ask("/api/say/x?token=x", token=False).status == 403
    assert page.ask("/api/say/x", Origin="http://evil.example").status == 403
    assert page.ask("/api/say/x", Origin=f"http://127.0.0.1:{page.server.port}").status == 200
    assert page.ask("/api/none", "POST", token=False).status == 403
    assert page.ask("/", token=False).status == 200  # The page itself says nothing about anybody.


def test_every_answer_allows_no_inline_script_and_nothing_from_elsewhere(page: Page) -> None:
    for path in ("/", "/sub/code.js", "/api/say/x", "/api/film.mp4", "/none"):
        headers = page.ask(path).headers
        policy = headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/sub/..%2f..%2fsecret.txt",
        "/sub/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/%252e%252e/secret.txt",
        "//secret.txt",
        "/./secret.txt",
        "/..\\secret.txt",
        "/%00",
        "/link.js",
        "/notes.py",
        "/secret.txt%00.js",
        "/" + "a" * 5000,
    ],
)
def test_nothing_but_the_files_of_the_page_is_served(page: Page, path: str) -> None:
    answer = page.ask(path)
    assert answer.status in (400, 404)
    assert b"secret" not in answer.content


def test_parts_of_a_path_are_decoded_once_and_never_hold_a_slash(page: Page) -> None:
    assert json.loads(page.ask(f"/api/say/{quote('ä <b>', safe='')}").content)["word"] == "ä <b>"
    assert page.ask("/api/say/a%2fb").status == 404
    assert json.loads(page.ask("/api/say/%252e").content)["word"] == "%2e"


def test_ranges_of_a_file_are_exact(page: Page) -> None:
    whole = page.ask("/api/film.mp4")
    assert (whole.status, len(whole.content), whole.headers["Accept-Ranges"]) == (200, 1_024_000, "bytes")
    for asked, start, stop in (
        ("bytes=0-0", 0, 1),
        ("bytes=5-300000", 5, 300_001),
        ("bytes=1023990-", 1_023_990, 1_024_000),
        ("bytes=1000000-9999999", 1_000_000, 1_024_000),
        ("bytes=-10", 1_023_990, 1_024_000),
    ):
        part = page.ask("/api/film.mp4", Range=asked)
        assert part.status == 206
        assert part.content == whole.content[start:stop]
        assert part.headers["Content-Range"] == f"bytes {start}-{stop - 1}/1024000"
    assert page.ask("/api/film.mp4", Range="bytes=2000000-").status == 416
    assert page.ask("/api/film.mp4", Range="bytes=9-3").status == 416
    assert page.ask("/api/film.mp4", Range="lines=1-2").status == 200  # What is not understood is not asked.
    head = page.ask("/api/film.mp4", "HEAD")
    assert (head.headers["Content-Length"], head.content) == ("1024000", b"")


def test_errors_are_answers_that_say_what_is_wrong(page: Page, caplog: pytest.LogCaptureFixture) -> None:
    answers = {kind: page.ask(f"/api/bad/{kind}") for kind in ("input", "none", "fault")}
    assert [answer.status for answer in answers.values()] == [400, 404, 500]
    assert json.loads(answers["input"].content) == {"error": "wrong"}
    assert "a bug in handloom" in json.loads(answers["fault"].content)["error"]
    assert len(caplog.records) == 1


def test_nothing_is_written_unless_the_page_may_edit(page: Page, tmp_path: Path) -> None:
    assert page.ask("/api/keep", "POST", body=b'{"a": 1}').status == 403
    assert page.written == []
    editing = Page(tmp_path / "second", edit=True)
    try:
        assert editing.ask("/api/keep", "POST", body=b'{"a": 1}').status == 200
        assert editing.written == [{"a": 1}]
        assert editing.ask("/api/keep", "POST", body=b"x" * 2_000_000).status == 413
        assert editing.ask("/api/keep", "POST", body=b"[" * 100_000).status == 400
        assert editing.ask("/api/keep", "GET").status == 404
    finally:
        editing.server.close()


def test_lines_come_as_they_are_made_and_end_when_the_page_goes(page: Page) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=20)
    connection.request("POST", f"/api/lines?token={TOKEN}")
    answer = connection.getresponse()
    assert [answer.readline() for _ in range(3)] == [b"0\n", b"1\n", b"2\n"]
    assert not page.closed.is_set()
    connection.close()
    assert page.closed.wait(20)


def test_files_are_not_sent_again_when_the_page_has_them(page: Page) -> None:
    tag = page.ask("/sub/code.js").headers["ETag"]
    assert page.ask("/sub/code.js", If_None_Match=tag).status == 304
    assert page.ask("/sub/code.js", If_None_Match='"other"').status == 200
