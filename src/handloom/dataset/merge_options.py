"""How a dataset is cut into files."""

from dataclasses import dataclass

from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """How a dataset is cut into files, and which optional columns it gets. The defaults are LeRobot's."""

    chunks_size: int = 1000
    """Most files per chunk folder."""
    data_files_size_in_mb: float = 100
    """Largest data file before compression [MiB]."""
    video_files_size_in_mb: float = 200
    """Largest video file [MiB]."""
    video_files_duration_s: float = 1000
    """Longest video file [s]. LeRobot compares frame times as float32 and allows 0.1 ms. Past 1024 s a float32 is
    coarser than that, and of a long episode (4 minutes and more) up to a tenth of the frames would be refused."""
    language: bool = False
    """Write the language columns that LeRobot >= 0.6 reads; older readers then refuse the dataset."""

    def __post_init__(self) -> None:
        """Refuse sizes that hold nothing."""
        sizes = (self.data_files_size_in_mb, self.video_files_size_in_mb, self.video_files_duration_s)
        if self.chunks_size < 1 or not min(sizes) > 0:
            raise InputError(f"sizes must be > 0, got {self}")
