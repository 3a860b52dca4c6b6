"""Did it succeed? Success terms, how long they stand, and the judge of a whole task."""

from handloom.judging.checks import CHECKS, NATURES, Nature, holds
from handloom.judging.judge import Bystanders, Judge, Step
from handloom.judging.lasting import not_lasting, standing_goals

__all__ = ["CHECKS", "NATURES", "Bystanders", "Judge", "Nature", "Step", "holds", "not_lasting", "standing_goals"]
