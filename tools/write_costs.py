"""Write the cost sheet of ``docs/guides/scale.md``: the cost of data, from measured rates and assumed prices.

``python tools/write_costs.py`` writes it again; ``--check`` tests whether the page is up to date. Rates and prices are
defined only here.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "scale.md"
BEGIN, END = "<!-- costs: tools/write_costs.py -->", "<!-- end of costs -->"


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Rates of ``fr3_pick_place`` with two cameras of 224 x 224 at 30 Hz, H.264; measured as described on the page."""

    realtime_factor: float = 2.7
    """Demonstrated time per CPU time, rendered on one core with AVX-512."""
    card_hours_per_day: float = 2573.0
    """Robot-hours per day of 16 cores, with one H200 for rendering."""
    card_cores: int = 16
    episode_s: float = 5.4
    """Length of an episode [s]."""
    drawing_share: float = 0.59
    """Rendering, as a share of all CPU time."""
    label_share: float = 0.16
    """CPU time of all labels except images, as a share of rendering."""
    merge_ms: float = 1.8
    """CPU time of the merge, per episode [ms]."""
    video_kb: float = 280.0
    table_kb: float = 5.0
    archive_kb: float = 32.0
    label_kb: float = 72.0
    """Per demonstrated second [kB]; labels: 1.2 kB for each of 60 images."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Assumed prices [EUR]; put your own here."""

    core_hour: float = 0.04
    card_hour: float = 3.00
    gb_month: float = 0.02


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of a number of hours of demonstrations."""

    robot_hours: float
    core_hours: float
    labelled_core_hours: float
    merge_core_hours: float
    card_hours: float
    card_core_hours: float
    video_tb: float
    table_tb: float
    archive_tb: float
    label_tb: float

    @property
    def bytes_tb(self) -> float:
        """Total storage [TB]."""
        return self.video_tb + self.table_tb + self.archive_tb + self.label_tb


def cost(robot_hours: float, rates: Rates) -> Cost:
    """Return the cost of a number of hours of demonstrations."""
    seconds = 3600.0 * robot_hours
    merge = seconds / rates.episode_s * rates.merge_ms / 1e3 / 3600.0
    drawn = robot_hours / rates.realtime_factor
    card = 24.0 * robot_hours / rates.card_hours_per_day
    tb = [seconds * kb / 1e9 for kb in (rates.video_kb, rates.table_kb, rates.archive_kb, rates.label_kb)]
    return Cost(
        robot_hours=robot_hours,
        core_hours=drawn + merge,
        labelled_core_hours=drawn * (1 + rates.drawing_share * rates.label_share) + merge,
        merge_core_hours=merge,
        card_hours=card,
        card_core_hours=card * rates.card_cores,
        video_tb=tb[0],
        table_tb=tb[1],
        archive_tb=tb[2],
        label_tb=tb[3],
    )


def sheet(rates: Rates, prices: Prices) -> str:
    """Return the table of costs."""
    hours, episodes = cost(10_000.0, rates), cost(1_000_000 * rates.episode_s / 3600.0, rates)
    rows = [
        ("demonstrated time", lambda c: f"{c.robot_hours:,.0f} h"),
        ("core-hours, rendered on the CPU", lambda c: f"{c.core_hours:,.0f}"),
        ("of which the merge", lambda c: f"{c.merge_core_hours:,.1f}"),
        ("the same with labels (all except images)", lambda c: f"{c.labelled_core_hours:,.0f}"),
        ("or rendered on a GPU: GPU-hours, core-hours", lambda c: f"{c.card_hours:,.0f}, {c.card_core_hours:,.0f}"),
        ("storage: video", lambda c: f"{c.video_tb:.2f} TB"),
        ("storage: tables, archives, labels", lambda c: f"{c.table_tb:.2f}, {c.archive_tb:.2f}, {c.label_tb:.2f} TB"),
        ("cost: on the CPU, with labels", lambda c: f"{c.labelled_core_hours * prices.core_hour:,.0f} EUR"),
        (
            "cost: with a GPU, without labels",
            lambda c: f"{c.card_hours * prices.card_hour + c.card_core_hours * prices.core_hour:,.0f} EUR",
        ),
        ("cost: storage, per month", lambda c: f"{c.bytes_tb * 1000 * prices.gb_month:,.0f} EUR"),
    ]
    told = [
        f"Assumed prices: {prices.core_hour} EUR per core-hour, {prices.card_hour} EUR per GPU-hour, "
        f"{prices.gb_month} EUR per GB and month.",
        "",
        "| | 10,000 robot-hours | 1,000,000 episodes |",
        "|---|---|---|",
        *(f"| {name} | {of(hours)} | {of(episodes)} |" for name, of in rows),
    ]
    return "\n".join(told)


def written(page: str) -> str:
    """Return the page with the sheet inserted."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{sheet(Rates(), Prices())}\n\n{END}{after}"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(text != written(text))
    PAGE.write_text(written(text), encoding="utf-8")
