"""A stand-in for the Hub on this machine: makes repositories and takes commits, by the protocol of its clients.

``python hub_server.py FOLDER`` prints its address and keeps what is uploaded under FOLDER/user/name.
"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

STORE = Path(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    """Answers the calls that an upload makes."""

    protocol_version = "HTTP/1.1"

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = b""
            while size := int(self.rfile.readline(), 16):
                parts += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return parts
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _say(self, value: object, status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        """Make a repository, say how each file is to be sent, or take a commit."""
        path, body = unquote(urlparse(self.path).path), self._body()
        parts = path.strip("/").split("/")
        if path == "/api/repos/create":
            told = json.loads(body)
            name = f"{told.get('organization') or 'me'}/{told['name']}"
            (STORE / name).mkdir(parents=True, exist_ok=True)
            self._say({"url": f"http://{self.headers['Host']}/datasets/{name}", "id": name, "name": name})
        elif "preupload" in parts:
            files = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            self._say({"files": files})
        elif "commit" in parts:
            name = "/".join(parts[2:4])
            for line in body.splitlines():
                told = json.loads(line)
                if told["key"] == "file":
                    target = STORE / name / told["value"]["path"]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(base64.b64decode(told["value"]["content"]))
            url = f"http://{self.headers['Host']}/datasets/{name}/commit/{'0' * 40}"
            self._say(
                {"commitUrl": url, "commitOid": "0" * 40, "success": True, "commitMessage": "", "pullRequestUrl": None}
            )
        elif path == "/api/validate-yaml":
            self._say({"errors": [], "warnings": []})
        else:
            self._say({"error": f"no such call: {path}"}, 404)

    def do_GET(self) -> None:
        """Say what is known of a repository or of the user."""
        path = unquote(urlparse(self.path).path)
        if path == "/api/whoami-v2":
            self._say({"name": "me", "type": "user", "orgs": []})
        elif path.startswith("/api/datasets/"):
            name = "/".join(path.split("/")[3:5])
            files = [p for p in (STORE / name).rglob("*") if p.is_file()] if (STORE / name).is_dir() else []
            siblings = [{"rfilename": p.relative_to(STORE / name).as_posix()} for p in files]
            self._say({"id": name, "sha": "0" * 40, "siblings": siblings, "private": True, "tags": []})
        else:
            self._say({"error": f"no such page: {path}"}, 404)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - who started it reads this
server.serve_forever()
