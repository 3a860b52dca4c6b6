"""One small web server for the pages of teleoperation and of the viewer (extras ``teleop`` and ``view``)."""

from handloom.web.exchange import FilePart, Request, Response, json_response, text_response
from handloom.web.web_app import POLICY, Route, Socket, StaticFiles, WebApp
from handloom.web.web_server import WebServer, is_loopback

__all__ = [
    "POLICY",
    "FilePart",
    "Request",
    "Response",
    "Route",
    "Socket",
    "StaticFiles",
    "WebApp",
    "WebServer",
    "is_loopback",
    "json_response",
    "text_response",
]
