"""The drawing process: several workers at once, bounded, told of mistakes; and the renderer that uses it."""

import os
import sys
from multiprocessing.connection import Listener
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from handloom.bench.render import build_scene, front_camera, hand_camera, move
from handloom.errors import MachineError, MissingExtraError, StateError
from handloom.render import Renderer
from handloom.render.backends import drawing_for, run_backend
from handloom.render.cuda import find_card
from handloom.render.cuda.card_drawer import CardDrawer
from handloom.render.cuda.cuda_renderer import CudaRenderer
from handloom.render.cuda.drawing_client import DRAWING, SLOTS, RemoteDrawing, make_drawing
from handloom.render.cuda.drawing_process import draw_for_clients
from handloom.render.preset import cpu_preset

sys.path.insert(0, str(Path(__file__).parent))
from lanes import COMPILER, Lanes

KEY = b"let me in"
FAST = cpu_preset("fast")
lanes = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


class Failing(Lanes):
    """A card that is out of memory."""

    def empty(self, size):
        raise MemoryError("out of memory allocating 7 bytes")


@pytest.fixture
def served(tmp_path):
    """Start a drawing process in a thread; return where it listens."""
    ends = []

    def start(machine):
        address, end = tmp_path / "card", Event()
        listener = Listener(str(address), authkey=KEY)
        thread = Thread(target=draw_for_clients, args=(listener, machine, "stand-in"), kwargs={"until": end})
        thread.start()
        ends.append((end, thread, listener))
        return address

    yield start
    for end, thread, listener in ends:
        end.set()
        thread.join()
        listener.close()


def states(model, data, frames):
    for frame in frames:
        move(model, data, frame)
        yield data


@lanes
def test_two_workers_get_what_the_processor_draws(served):
    address = served(Lanes())
    model, data = build_scene()
    cameras, frames = [front_camera(40, 32), hand_camera(32, 24)], range(0, 60, 10)
    workers = [CudaRenderer(model, FAST, RemoteDrawing(FAST, address, KEY)) for _ in range(2)]
    assert workers[0].card == "stand-in"
    drawings = [worker.draw_each(states(model, data, frames), cameras, ("rgb", "depth")) for worker in workers]
    # Asked for in turns, so that the requests of both wait at the same time.
    drawn = [list(pair) for pair in zip(*drawings, strict=True)]
    reference = Renderer(model, "fast")
    for frame, both in zip(frames, drawn, strict=True):
        move(model, data, frame)
        expected = reference.render(data, cameras, ("rgb", "depth"))
        for images in both:
            for camera, image in zip(cameras, images, strict=True):
                np.testing.assert_array_equal(image.rgb, expected[camera.name]["rgb"])
                np.testing.assert_array_equal(image.depth, expected[camera.name]["depth"])


@lanes
def test_a_worker_has_no_more_than_two_requests_under_way(served, monkeypatch):
    monkeypatch.setattr("handloom.render.cuda.cuda_renderer.PIXELS_AT_ONCE", 40 * 32)  # One state per request.
    model, data = build_scene()
    drawing = RemoteDrawing(FAST, served(Lanes()), KEY)
    read = []
    source = (read.append(frame) or state for frame, state in enumerate(states(model, data, range(6))))
    drawn = CudaRenderer(model, FAST, drawing).draw_each(source, [front_camera(40, 32)], ("rgb",))
    next(drawn)
    assert len(read) == SLOTS


@lanes
def test_whoever_stops_early_leaves_nothing_for_the_next(served, monkeypatch):
    monkeypatch.setattr("handloom.render.cuda.cuda_renderer.PIXELS_AT_ONCE", 40 * 32)
    model, data = build_scene()
    renderer, camera = CudaRenderer(model, FAST, RemoteDrawing(FAST, served(Lanes()), KEY)), front_camera(40, 32)
    drawn = renderer.draw_each(states(model, data, range(6)), [camera], ("rgb",))
    next(drawn)
    drawn.close()
    move(model, data, 40)
    image = renderer.draw(data, camera, ("rgb",)).rgb
    np.testing.assert_array_equal(image, Renderer(model, "fast").render(data, [camera])["front"]["rgb"])


@lanes
def test_a_card_that_fails_is_a_fault_of_the_machine(served):
    model, data = build_scene()
    renderer = CudaRenderer(model, FAST, RemoteDrawing(FAST, served(Failing()), KEY))
    with pytest.raises(
        MachineError, match="the rendering process cannot render: MemoryError: out of memory allocating 7"
    ):
        renderer.draw(data, front_camera(40, 32), ("rgb",))


def test_a_drawing_process_that_is_gone_is_a_fault_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv(DRAWING, f"{KEY.hex()}|{tmp_path / 'nobody'}")
    with pytest.raises(MachineError, match="the rendering process does not answer"):
        make_drawing(FAST)


@lanes
def test_scenes_with_too_many_geoms_are_refused_in_one_line(monkeypatch):
    monkeypatch.setattr("handloom.render.cuda.card_drawer.MOST_GEOMS", 10)
    from handloom.render.cuda.moment_reader import MomentReader

    model, data = build_scene()
    reader = MomentReader(model, mirrors=False)
    reader.read(data, [front_camera(40, 32)])
    with pytest.raises(ValueError, match="61 visible geoms, but the backend 'cuda' renders at most 10"):
        CardDrawer(Lanes(), FAST).draw_many([reader.take([front_camera(40, 32)])], ("rgb",))


def test_without_cupy_the_backend_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    model, _ = build_scene()
    with pytest.raises(MissingExtraError, match=r"pip install 'handloom\[gpu\]'"):
        Renderer(model, backend="cuda")


def test_without_a_card_the_backend_says_why_and_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", object())
    monkeypatch.setattr(find_card, "find_cards", lambda: find_card.Cards((), "there is no NVIDIA GPU"))
    model, _ = build_scene()
    message = "cannot render here: there is no NVIDIA GPU; the backend 'cpu' needs no GPU"
    with pytest.raises(StateError, match=message):
        Renderer(model, backend="cuda")
    with pytest.raises(StateError, match=message), drawing_for("cuda", workers=4):
        pass
    assert run_backend() == "cpu"


CUPY = """
class runtime:
    def getDeviceCount(): return {count}
    def getDeviceProperties(k): return {{"name": b"Card, the " + b"first second".split()[k]}}
    def runtimeGetVersion(): return 13020
class cuda:
    runtime = runtime
    class Device:
        def __init__(self, k): pass
        def __enter__(self): pass
        def __exit__(self, *error): pass
class Array:
    def get(self): return self
    def tolist(self): return [0, 2, 4, 6]
float32 = arange = lambda *a, **k: Array()
RawKernel = lambda code, name: lambda *a: None
__version__ = "14.2.0"
"""


@pytest.mark.parametrize(
    ("count", "names", "reason"),
    [
        (1, ("Card, the first",), "renders on Card, the first (CUDA 13.2, CuPy 14.2.0)"),
        (2, ("Card, the first", "Card, the second"), "renders on Card, the first, Card, the second (CUDA"),
        (0, (), "there is no NVIDIA GPU"),
    ],
)
def test_the_trial_tells_which_cards_there_are(monkeypatch, tmp_path, count, names, reason):
    """The trial itself runs, in a child process, with a package that answers as CuPy does."""
    (tmp_path / "cupy.py").write_text(CUPY.format(count=count))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    cards = find_card.find_cards.__wrapped__()
    assert cards.names == names
    assert cards.reason.startswith(reason)


def test_a_trial_that_fails_says_why(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise ImportError('libcuda.so.1: cannot open shared object file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    cards = find_card.find_cards.__wrapped__()
    assert cards.names == ()
    assert "libcuda.so.1" in cards.reason


def test_for_the_processor_nothing_is_started():
    with drawing_for("cpu", workers=4):
        assert run_backend() == "cpu"
