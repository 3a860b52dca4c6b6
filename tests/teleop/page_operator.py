"""A person at the page who picks and places by what can be seen: keys or thumbs, push by push, and a look."""

import time
from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np

from browser import Browser
from handloom.scene import Scene, SceneArm
from handloom.teleop.session.operator_source import OperatorSource

SPEED, TURN = 0.22, 1.1
"""How fast a hand goes while something is pushed [m/s], [rad/s]."""
UP = np.array([0.0, 0.0, 0.1])
NEAR = 0.004
"""Near enough [m]."""


class Device(Protocol):
    """Pushes a hand of the page for a while."""

    def push(self, axis: str, sign: int, seconds: float) -> None:
        """Push along an axis (``x`` right, ``y`` up, ``z`` back, ``turn`` about the vertical)."""
        ...

    def grip(self) -> None:
        """Close or open the gripper."""
        ...

    def click(self, name: str) -> None:
        """Press a button of the page."""
        ...


class Keyboard:
    """Keys alone."""

    KEYS: ClassVar = {
        "x": ("KeyA", "KeyD"),
        "y": ("KeyQ", "KeyE"),
        "z": ("KeyW", "KeyS"),
        "turn": ("ArrowRight", "ArrowLeft"),
    }
    BUTTONS: ClassVar = {"run": "Enter", "save": "KeyK"}

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def push(self, axis: str, sign: int, seconds: float) -> None:
        key = self.KEYS[axis][sign > 0]
        slow = seconds < 0.1
        if slow:
            self._browser.key("ShiftLeft", down=True, key="Shift")
        self._browser.key(key, down=True)
        time.sleep(4.0 * seconds if slow else seconds)
        self._browser.key(key, down=False)
        if slow:
            self._browser.key("ShiftLeft", down=False, key="Shift")

    def grip(self) -> None:
        self._browser.tap("Space")

    def click(self, name: str) -> None:
        self._browser.tap(self.BUTTONS[name])


class Thumbs:
    """Touches alone."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def _place(self, selector: str) -> tuple[float, float, float]:
        box = self._browser.run(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
        shown = self._browser.run("[innerWidth, innerHeight]")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        assert 0 < x < shown[0], (selector, box)
        assert 0 < y < shown[1], (selector, box)
        return x, y, box["width"] / 2

    def _touch(self, x: float, y: float, seconds: float) -> None:
        self._browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        time.sleep(seconds)
        self._browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def push(self, axis: str, sign: int, seconds: float) -> None:
        share = 1.0 if seconds > 0.1 else 0.25
        seconds = max(0.05, seconds / share)
        if axis == "y":
            x, y, _ = self._place(f"[data-hold={'up' if sign > 0 else 'down'}]")
            return self._touch(x, y, seconds * share)
        x, y, radius = self._place("[data-pad=turn]" if axis == "turn" else "[data-pad=move]")
        way = share * 0.98 * radius
        if axis == "turn":
            return self._touch(x - sign * way, y, seconds)
        return self._touch(x + sign * way, y, seconds) if axis == "x" else self._touch(x, y + sign * way, seconds)

    def grip(self) -> None:
        self._touch(*self._place("#pad-grip")[:2], 0.05)

    def click(self, name: str) -> None:
        self._touch(*self._place(f"#{name}")[:2], 0.05)


class PageOperator:
    """Leads the tool of one arm to places in the world, push by push.

    Args:
        device: What is pushed.
        source: Returns the source of the attempt.
    """

    def __init__(self, device: Device, source: Callable[[], OperatorSource]) -> None:
        self.device, self._source = device, source

    @property
    def _scene(self) -> Scene:
        return self._source().scene

    @property
    def _arm(self) -> SceneArm:
        return self._source().robot.arms[0].arm

    def tool(self) -> np.ndarray:
        """Where the tool is (3,) [m]."""
        return self._scene.world.data.site(self._arm.prefix + self._arm.spec.tcp_site).xpos.copy()

    def settled(self) -> np.ndarray:
        """Where the tool comes to rest; a busy machine may take a while until it begins to move."""
        before, still = self._pose(), 0
        for _ in range(100):
            time.sleep(0.12)
            now = self._pose()
            still = still + 1 if np.abs(now - before).max() < 1e-3 else 0
            before = now
            if still == 3:
                break
        return self.tool()

    def _pose(self) -> np.ndarray:
        site = self._scene.world.data.site(self._arm.prefix + self._arm.spec.tcp_site)
        return np.concatenate([site.xpos, site.xmat])

    def go(self, place: np.ndarray, *, axes: str = "xzy", near: float = NEAR) -> None:
        """Lead the tool to a place in the world (3,) [m], axis after axis, until it is there."""
        R = self._source().robot.T_world_anchor[:3, :3]
        for _ in range(80):
            error = R.T @ (place - self.settled())
            left = {axis: float(error["xyz".index(axis)]) for axis in axes}
            axis = next((a for a in axes if abs(left[a]) > near), None)
            if axis is None:
                return
            self.device.push(axis, 1 if left[axis] > 0 else -1, min(abs(left[axis]) / SPEED, 1.0))
        raise AssertionError(f"the tool did not come to {place}: it is {error} off")

    def turn_to(self, yaw: float) -> None:
        """Turn the tool about the vertical until its fingers stand at an angle [rad], give or take quarter turns."""
        for _ in range(80):
            self.settled()
            site = self._arm.prefix + self._arm.spec.tcp_site
            x, y = self._scene.world.data.site(site).xmat.reshape(3, 3)[:2, 0]
            angle = (yaw - float(np.arctan2(y, x)) + np.pi / 4) % (np.pi / 2) - np.pi / 4
            if abs(angle) < 0.05:
                return
            self.device.push("turn", 1 if angle > 0 else -1, min(abs(angle) / TURN, 1.0))
        raise AssertionError(f"the hand is {angle} rad off")

    def place_of(self, name: str) -> tuple[np.ndarray, float]:
        """Where an object is (3,) [m], and how it is turned about the vertical [rad]."""
        body = self._scene.world.data.body(f"{name}/object")
        x, y = body.xmat.reshape(3, 3)[:2, 0]
        return body.xpos.copy(), float(np.arctan2(y, x))

    def pick_and_place(self, thing: str, goal: str) -> None:
        """Grasp one object and put it down on another."""
        place, yaw = self.place_of(thing)
        self.go(place + UP, near=0.006)
        self.turn_to(yaw)
        self.go(place, axes="xzy")
        self.device.grip()
        self.wait(lambda: self._source().robot.arms[0].closedness == 1.0)
        time.sleep(0.8)
        self.go(self.tool() + UP, axes="y", near=0.02)
        held = self.tool() - self.place_of(thing)[0]
        target = self.place_of(goal)[0]
        self.go(np.array([*(target + held)[:2], self.tool()[2]]), axes="xz", near=0.01)
        self.go(target + held + 0.3 * UP, axes="y", near=0.006)
        self.device.grip()
        for _ in range(4):
            time.sleep(0.5)
            if self._source().judge.achieved:
                return
            self.device.push("y", 1, 0.2)

    def wait(self, holds: Callable[[], bool], seconds: float = 20.0) -> None:
        """Look until something is so."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.05)
