"""Make the helpers beside the tests importable under ``--import-mode=importlib``."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "leader"), str(HERE.parent)]
