"""Clients that render for a renderer: on a GPU in this process, or in a rendering process shared by several workers."""

import os
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import NamedTuple, Protocol

from handloom.errors import MachineError
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.cuda.card import Card
from handloom.render.cuda.card_drawer import CardDrawer, image_shapes, make_images
from handloom.render.cuda.find_card import cupy_and_cards
from handloom.render.cuda.moments import TABLES, Moments
from handloom.render.cuda.shared_arrays import SharedArrays
from handloom.render.preset import CpuPreset

DRAWING = "HANDLOOM_DRAWING"
"""Variable with the addresses of this run's rendering processes, one per GPU, and their key."""
PARTS = ("poses", "lights", "beads", "rows", "bodies", "sizes")
"""Fields of ``Moments`` that travel with every request."""
SLOTS = 2
"""Concurrent requests of one worker: one is rendered while the images of the other are used."""


class CardDrawing(Protocol):
    """Renders moments in the order of submission, at most SLOTS requests at a time."""

    card: str
    """What draws."""

    def hand_in(self, moments: Moments, kinds: tuple[str, ...]) -> None:
        """Start rendering; wait while there is no free slot."""
        ...

    def take_out(self) -> Sequence[FrameArrays]:
        """Return the images of the oldest submitted moments, one set per camera, with the moments along the first axis.

        They are overwritten once SLOTS further requests have been submitted.
        """
        ...


class LocalDrawing:
    """Renders on a GPU in this process.

    Args:
        preset: The enabled effects.
    """

    def __init__(self, preset: CpuPreset) -> None:
        card = Card(cupy_and_cards())
        self.card = card.name
        self._drawer = CardDrawer(card, preset)
        self._drawn: list[Sequence[FrameArrays]] = []

    def hand_in(self, moments: Moments, kinds: tuple[str, ...]) -> None:
        """Render immediately."""
        self._drawn.append(self._drawer.draw_many([moments], kinds)[0])

    def take_out(self) -> Sequence[FrameArrays]:
        """Return the images of the oldest submitted moments."""
        return self._drawn.pop(0)


class _Slot(NamedTuple):
    """Shared memory of one request."""

    sent: SharedArrays
    drawn: SharedArrays


class RemoteDrawing:
    """Renders in a rendering process. Moments and images go through shared memory.

    Args:
        preset: The enabled effects.
        address: Address of the process; segments of shared memory are beside it.
        key: Its authentication key.
    """

    def __init__(self, preset: CpuPreset, address: Path, key: bytes) -> None:
        try:
            self._pipe: Connection = Client(str(address), authkey=key)
            self._pipe.send(preset)
            self.card = str(self._pipe.recv())
        except (OSError, EOFError) as error:
            raise lost(error) from error
        self._slots = [_Slot(SharedArrays(address.parent), SharedArrays(address.parent)) for _ in range(SLOTS)]
        self._waiting: list[Sequence[FrameArrays]] = []
        self._known = ""
        self._next = 0

    def hand_in(self, moments: Moments, kinds: tuple[str, ...]) -> None:
        """Send moments, with the tables of their model if the rendering process does not have them."""
        slot = self._slots[self._next]
        model = moments.model
        fresh = model.digest != self._known
        tables = [getattr(model, name) for name in (*TABLES, "mirrors")] if fresh else []
        places = slot.sent.write([*(getattr(moments, name) for name in PARTS), *tables])
        wanted = frozenset(kinds)
        places_drawn = slot.drawn.places([s for camera in image_shapes(moments, wanted) for s in camera.values()])
        room = iter(places_drawn)
        images = make_images(moments, wanted, lambda _: slot.drawn.array(next(room)))
        request = {
            "model": (model.digest, model.lights, model.headlight, model.beads, fresh),
            "kinds": kinds,
            "sent": (slot.sent.path, places),
            "drawn": (slot.drawn.path, places_drawn),
        }
        try:
            self._pipe.send(request)
        except OSError as error:
            raise lost(error) from error
        self._known = model.digest
        self._waiting.append(images)
        self._next = (self._next + 1) % SLOTS

    def take_out(self) -> Sequence[FrameArrays]:
        """Wait for the images of the oldest submitted moments."""
        images = self._waiting.pop(0)
        try:
            mistake = self._pipe.recv()
        except (OSError, EOFError) as error:
            raise lost(error) from error
        if mistake:
            raise MachineError(f"the rendering process cannot render: {mistake}", kind="card")
        return images

    def close(self) -> None:
        """Disconnect from the rendering process and remove the shared memory."""
        self._pipe.close()
        for slot in self._slots:
            slot.sent.remove()
            slot.drawn.remove()


def lost(error: Exception) -> MachineError:
    """Return the error for a rendering process that has ended."""
    return MachineError(
        f"the rendering process does not answer ({type(error).__name__}); run the same command again to continue",
        kind="card",
    )


def make_drawing(preset: CpuPreset) -> LocalDrawing | RemoteDrawing:
    """Return the client to use here: the rendering process of the run if there is one, else a GPU in this process."""
    told = os.environ.get(DRAWING)
    if not told:
        return LocalDrawing(preset)
    key, *addresses = told.split("|")
    return RemoteDrawing(preset, Path(addresses[os.getpid() % len(addresses)]), bytes.fromhex(key))
