"""Every row of the table leads to a class or function."""

import os
import subprocess
import sys

import pytest

from handloom.compat import isaac


@pytest.mark.parametrize("name", isaac.PUBLISHED)
def test_every_published_name_leads_to_a_documented_class_or_function(name: str) -> None:
    found = getattr(isaac, name)
    assert isinstance(found, type) == name[0].isupper()
    assert callable(found)
    assert found.__doc__
    assert f"{found.__module__}.".startswith(isaac.PUBLISHED[name].partition(":")[0] + ".")


def test_the_table_is_sorted_and_listed() -> None:
    assert list(isaac.PUBLISHED) == sorted(isaac.PUBLISHED)
    assert set(isaac.PUBLISHED) <= set(dir(isaac))


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="did you mean 'SingleArticulation'"):
        _ = isaac.SingleArticulaton
    assert not hasattr(isaac, "Robot3000")


def test_importing_the_table_does_not_import_the_simulator() -> None:
    code = "import sys; import handloom.compat.isaac; sys.exit('mujoco' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
