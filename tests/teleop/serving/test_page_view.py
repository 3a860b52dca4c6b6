"""What pages are told, in which order."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from handloom.teleop.serving.page_view import PageView
from handloom.teleop.serving.picture_stream import PictureStream
from handloom.teleop.session.live_input import LiveInput


@pytest.fixture
def pictures() -> Iterator[PictureStream]:
    pictures = PictureStream(lambda files: None)
    yield pictures
    pictures.close()


def test_a_change_during_the_publication_of_an_older_one_is_published_after_it(pictures: PictureStream) -> None:
    """The saver and the simulation change facts in different threads; the page keeps the last state that it gets."""
    published: list[int] = []

    def publish(state: dict[str, Any]) -> None:
        if state["saved"] == 1:
            newer.start()
            newer.join(0.5)  # Enough to overtake, if that is possible.
        published.append(state["saved"])

    view = PageView(LiveInput(), pictures, publish, task="task")
    newer = threading.Thread(target=lambda: view.show(saved=2))
    view.show(saved=1)
    newer.join()
    assert published == [1, 2]
