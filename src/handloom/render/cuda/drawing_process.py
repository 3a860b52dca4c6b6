"""One process per GPU that renders for all workers: their requests are rendered together, with one launch per stage."""

import multiprocessing
import os
import secrets
import signal
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from mmap import mmap
from multiprocessing.connection import Connection, Listener, wait
from pathlib import Path
from threading import Thread
from typing import Any

from numpy.typing import NDArray

from handloom.errors import MachineError
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.cuda.card import Card
from handloom.render.cuda.card_drawer import CardDrawer, make_images
from handloom.render.cuda.drawing_client import DRAWING, PARTS, SLOTS
from handloom.render.cuda.find_card import cupy_and_cards, find_cards
from handloom.render.cuda.machine import Machine
from handloom.render.cuda.moments import TABLES, DrawnModel, Moments
from handloom.render.cuda.shared_arrays import MEMORY, ArrayPlace, address_of, array_at, open_segment
from handloom.render.preset import CpuPreset

START_UP = 120.0
"""Time limit for the GPU's answer [s]."""
LOOK = 0.2
"""Time to wait for requests before checking for new workers [s]."""


@contextmanager
def drawing_processes() -> Iterator[tuple[str, ...]]:
    """Start a rendering process per GPU of this machine, pass their addresses to workers, and stop them afterwards.

    Yields:
        The names of the GPUs.

    Raises:
        StateError: There is no GPU, or it cannot be used.
        MachineError: A rendering process did not start.
    """
    cupy_and_cards()
    cards, context = find_cards().names, multiprocessing.get_context("spawn")
    key = secrets.token_bytes(16)
    with tempfile.TemporaryDirectory(prefix="handloom_", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        addresses = [str(Path(folder) / f"card{number}") for number in range(len(cards))]
        processes = [
            context.Process(target=serve, args=(address, key, number), daemon=True)
            for number, address in enumerate(addresses)
        ]
        try:
            for process in processes:
                process.start()
            for address, process in zip(addresses, processes, strict=True):
                _await_start(address, process)
            with _told("|".join([key.hex(), *addresses])):
                yield cards
        finally:
            for process in processes:
                process.terminate()
                process.join(10)


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Pass the addresses of the rendering processes to workers started from now on."""
    before = os.environ.get(DRAWING)
    os.environ[DRAWING] = where
    try:
        yield
    finally:
        if before is None:
            del os.environ[DRAWING]
        else:
            os.environ[DRAWING] = before


def _await_start(address: str, process: Any) -> None:
    """Wait until a rendering process listens."""
    waited = 0.0
    while not Path(address).exists():
        process.join(LOOK)
        waited += LOOK
        if not process.is_alive() or waited > START_UP:
            raise MachineError(f"the rendering process of a GPU did not start (code {process.exitcode})", kind="card")


def serve(address: str, key: bytes, number: int) -> None:
    """Render the workers' requests on a GPU until this process is stopped."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The run stops this process when its workers are done.
    card = Card(cupy_and_cards(), number)
    draw_for_clients(Listener(address, authkey=key), card, card.name)


def draw_for_clients(listener: Listener, machine: Machine, name: str, *, until: Any = None) -> None:
    """Render the requests of clients, all pending ones at once.

    Args:
        listener: Listener for new clients.
        machine: The GPU.
        name: Its name.
        until: Event after which to return; by default never.
    """
    arrived: list[Connection] = []
    Thread(target=_let_in, args=(listener, arrived), daemon=True).start()
    clients: dict[Connection, _Client] = {}
    drawers: dict[CpuPreset, CardDrawer] = {}
    while until is None or not until.is_set():
        while arrived:
            pipe = arrived.pop(0)
            with suppress(OSError, EOFError):
                preset = pipe.recv()
                pipe.send(name)
                clients[pipe] = _Client(pipe, preset, machine)
                drawers.setdefault(preset, CardDrawer(machine, preset))
        ready = wait(list(clients), LOOK) if clients else wait([], LOOK)
        asked = []
        for pipe in ready:
            client = clients[pipe]  # pyright: ignore[reportArgumentType]
            try:
                asked.append((client, client.request()))
            except (OSError, EOFError):
                clients.pop(client.pipe).close()
        groups: dict[tuple[CpuPreset, tuple[str, ...]], list[tuple[_Client, _Request]]] = {}
        for client, request in asked:
            groups.setdefault((client.preset, request.kinds), []).append((client, request))
        for (preset, kinds), members in groups.items():
            _answer(drawers[preset], kinds, members)


def _let_in(listener: Listener, arrived: list[Connection]) -> None:
    while True:
        try:
            arrived.append(listener.accept())
        except multiprocessing.AuthenticationError:
            continue
        except OSError:
            return


def _answer(drawer: CardDrawer, kinds: tuple[str, ...], members: "Sequence[tuple[_Client, _Request]]") -> None:
    """Render requests of one kind and send each client the result: its images are ready, or an error."""
    mistake = ""
    try:
        moments = [request.moments for _, request in members]
        drawer.draw_many(moments, kinds, out=[request.images for _, request in members])
    except Exception as error:
        mistake = f"{type(error).__name__}: {error}"
    for client, _ in members:
        with suppress(OSError):
            client.pipe.send(mistake)


class _Request:
    """The request of one client."""

    def __init__(self, moments: Moments, kinds: tuple[str, ...], images: Sequence[FrameArrays]) -> None:
        self.moments, self.kinds, self.images = moments, kinds, images


class _Client:
    """A connected worker."""

    def __init__(self, pipe: Connection, preset: CpuPreset, machine: Machine) -> None:
        self.pipe, self.preset, self._machine = pipe, preset, machine
        self._segments: OrderedDict[Path, mmap] = OrderedDict()
        self._model: DrawnModel | None = None

    def request(self) -> _Request:
        """Receive the next request."""
        asked = self.pipe.recv()
        sent, drawn = self._arrays(*asked["sent"]), iter(self._arrays(*asked["drawn"]))
        digest, lights, headlight, beads, fresh = asked["model"]
        if fresh:
            tables = dict(zip((*TABLES, "mirrors"), (table.copy() for table in sent[len(PARTS) :]), strict=True))
            self._model = DrawnModel(**tables, lights=lights, headlight=headlight, beads=beads, digest=digest)
        assert self._model is not None
        moments = Moments(self._model, **dict(zip(PARTS, sent, strict=False)))
        return _Request(moments, asked["kinds"], make_images(moments, frozenset(asked["kinds"]), lambda _: next(drawn)))

    def _arrays(self, path: Path, places: Sequence[ArrayPlace]) -> list[NDArray[Any]]:
        """Return arrays of a segment; segments in use stay mapped, older ones have been replaced by larger ones."""
        if path not in self._segments:
            segment = self._segments[path] = open_segment(path)
            self._machine.share(address_of(segment), len(segment))
        self._segments.move_to_end(path)
        while len(self._segments) > 2 * SLOTS:
            self._machine.unshare(address_of(self._segments.popitem(last=False)[1]))
        return [array_at(self._segments[path], place) for place in places]

    def close(self) -> None:
        """Release the client and its memory."""
        self.pipe.close()
        for segment in self._segments.values():
            self._machine.unshare(address_of(segment))
        self._segments.clear()
