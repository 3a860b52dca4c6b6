"""A stream that no browser plays, such as 12-bit depth, as a video of its colours."""

from pathlib import Path

import av

from handloom.viewer.episode_source import Camera, EpisodeSource
from handloom.viewer.pictures import pictures

CODEC, OPTIONS = "libx264", {"preset": "veryfast", "crf": "20", "g": "2", "bf": "0", "threads": "1"}


def write_stream(source: EpisodeSource, index: int, camera: Camera, file: Path) -> None:
    """Write the stream of a camera in one episode as a video of its own.

    Args:
        source: The dataset.
        index: Number of the episode.
        camera: The camera.
        file: Where to.
    """
    length = source.table().columns["length"][source.check(index)]
    images = pictures(source, index, camera, range(length))
    height, width = (side - side % 2 for side in images[0].shape[:2])
    with av.open(str(file), "w", format="mp4") as container:
        stream = container.add_stream(CODEC, rate=source.fps, options=OPTIONS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image[:height, :width].copy(), format="rgb24")))
        container.mux(stream.encode(None))
