"""Videos that are cut, noisy, of another kind or no videos at all."""

import shutil
from pathlib import Path
from random import Random

import av
import numpy as np

from hostile_datasets.kinds import kind


def video_of(run: Path) -> Path:
    return next((run / "dataset" / "videos").rglob("*.mp4"))


def write_video(file: Path, *, frames: int, size: int, codec: str = "libx264", fps: int = 30) -> None:
    with av.open(str(file), "w", format="mp4") as container:
        stream = container.add_stream(codec, rate=fps)
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        for _ in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((size, size, 3), np.uint8), "rgb24")))
        container.mux(stream.encode())


@kind
def video_cut(run: Path, rng: Random) -> None:
    file = video_of(run)
    file.write_bytes(file.read_bytes()[: rng.choice([0, 100, 3000, -100, -1])])


@kind
def video_noise(run: Path, rng: Random) -> None:
    file = video_of(run)
    raw = bytearray(file.read_bytes())
    for _ in range(rng.choice([3, 300])):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    file.write_bytes(raw)


@kind
def video_other(run: Path, rng: Random) -> None:
    file = video_of(run)
    file.unlink()
    size, frames, codec = rng.choice(
        [(2048, 34, "libx264"), (32, 3, "libx264"), (32, 34, "mpeg4"), (32, 500, "libx264")]
    )
    write_video(file, frames=frames, size=size, codec=codec)


@kind
def video_playlist(run: Path, rng: Random) -> None:
    """FFmpeg would follow the addresses in a playlist, whatever its name."""
    secret = run / "secret.mp4"
    shutil.copy(video_of(run), secret)
    lists = [
        f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://{secret.resolve()}\n#EXT-X-ENDLIST\n",
        f"ffconcat version 1.0\nfile '{secret.resolve()}'\n",
        f"<MPD><BaseURL>file://{secret.resolve()}</BaseURL></MPD>",
    ]
    video_of(run).write_text(rng.choice(lists))


@kind
def video_sound(run: Path, rng: Random) -> None:
    file = video_of(run)
    file.unlink()
    with av.open(str(file), "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
