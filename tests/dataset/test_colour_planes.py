"""The planes of an image agree with the definition, and come back within a level."""

import av
import numpy as np

from handloom.dataset.video.video_writer import colour_planes


def reference(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """BT.601 in studio range, in floating point and without rounding."""
    red, green, blue = np.moveaxis(rgb.astype(float), 2, 0)
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    height, width = grey.shape
    chroma = [((c - grey) / scale * 224 / 255) for c, scale in ((blue, 1.772), (red, 1.402))]
    u, v = (128 + c.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3)) for c in chroma)
    return 16 + grey * 219 / 255, u, v


def planes_of(rgb: np.ndarray) -> av.VideoFrame:
    """Return a frame filled by the kernel; its rows may be longer than the image is wide."""
    frame = av.VideoFrame(rgb.shape[1], rgb.shape[0], "yuv420p")
    colour_planes(rgb, *(np.frombuffer(p, np.uint8).reshape(p.height, p.line_size) for p in frame.planes))
    return frame


def test_planes_agree_with_the_definition() -> None:
    rng = np.random.default_rng(0)
    corners = np.array(np.meshgrid([0, 255], [0, 255], [0, 255])).T.reshape(-1, 3).astype(np.uint8)
    random = rng.integers(0, 256, (38, 26, 3), dtype=np.uint8)
    for image in [random, *(np.tile(colour, (4, 6, 1)) for colour in corners)]:
        height, width = image.shape[:2]
        planes = planes_of(image).to_ndarray()
        luma, chroma = planes[:height], planes[height:].reshape(2, height // 2, width // 2)
        wanted = reference(image)
        # Luma is rounded up, chroma to the nearest; fixed-point factors add a hundredth of a step.
        above = luma - wanted[0]
        assert above.min() > -0.01
        assert above.max() < 1.01
        assert np.abs(chroma - wanted[1:]).max() < 0.51


def test_grey_images_come_back_within_a_level() -> None:
    grey = np.tile(np.arange(256, dtype=np.uint8)[:, None, None], (1, 4, 3))
    back = planes_of(grey).to_ndarray(format="rgb24")
    difference = back.astype(int) - grey
    assert np.abs(difference).max() <= 2
    assert abs(difference.mean()) < 0.7
