"""Flags shared by verbs, with readable metavars: TASK, N, KEY=VALUE; not STR or {None}|INT."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

# The help of a flag whose default is None has its own "Default: ..."; tyro would add "(default: None)".
NO_HINT = ""

Task = Annotated[Positional[str], arg(metavar="TASK")]
Tasks = Annotated[Positional[tuple[str, ...]], arg(metavar="TASK [TASK ...]", help_behavior_hint=NO_HINT)]
Run = Annotated[Positional[Path], arg(metavar="RUN")]
Runs = Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN [RUN ...]", help_behavior_hint=NO_HINT)]
Robot = Annotated[str, arg(metavar="ROBOT")]
OptionalRobot = Annotated[str | None, arg(metavar="ROBOT", help_behavior_hint=NO_HINT)]
Robots = Annotated[Positional[tuple[str, ...]], arg(metavar="[ROBOT ...]", help_behavior_hint=NO_HINT)]
Object = Annotated[str, arg(metavar="OBJECT")]
File = Annotated[Path, arg(metavar="FILE")]

Number = Annotated[int, arg(metavar="N")]
OptionalNumber = Annotated[int | None, arg(metavar="N", help_behavior_hint=NO_HINT)]
OptionalFloat = Annotated[float | None, arg(metavar="X", help_behavior_hint=NO_HINT)]
Seconds = Annotated[float, arg(metavar="SECONDS")]
OptionalText = Annotated[str | None, arg(metavar="TEXT", help_behavior_hint=NO_HINT)]
Place = Annotated[tuple[float, float, float] | None, arg(metavar="X Y Z", help_behavior_hint=NO_HINT)]
OptionalFile = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint=NO_HINT)]
Output = Annotated[Path, arg(aliases=["-o"], metavar="PATH")]
OptionalOutput = Annotated[Path | None, arg(aliases=["-o"], metavar="PATH", help_behavior_hint=NO_HINT)]
Overrides = Annotated[tuple[str, ...], arg(metavar="KEY=VALUE [KEY=VALUE ...]", help_behavior_hint=NO_HINT)]

Preset = Literal["fast", "balanced", "quality"]
Backend = Literal["cpu", "cuda"]
Codec = Literal["h264", "av1"]
ColumnStyle = Literal["canonical", "reference", "detailed"]
LabelName = Literal[
    "all", "steps", "objects", "cameras", "boxes", "masks", "points", "contacts", "traces", "grasps", "words", "depth",
    "normals", "flow",
]  # fmt: skip
Labels = Annotated[tuple[LabelName, ...], arg(help_behavior_hint=NO_HINT)]
LerobotFeature = Literal["depth", "segmentation", "language"]
