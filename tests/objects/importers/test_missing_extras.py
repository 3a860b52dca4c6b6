"""Without the optional packages the importers say what to install."""

import sys

import pytest

from handloom.errors import MissingExtraError
from handloom.objects import import_object


@pytest.mark.parametrize(("ending", "package", "extra"), [("stl", "trimesh", "meshes"), ("usda", "pxr", "usd")])
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, ending, package, extra):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    file = tmp_path / f"thing.{ending}"
    file.write_text("")
    with pytest.raises(MissingExtraError, match=rf"pip install 'handloom\[{extra}\]'"):
        import_object(file)
