"""Without the optional packages the importers say what to install."""

import os

import pytest

from handloom.errors import MissingExtraError
from handloom.objects import import_object


@pytest.mark.parametrize(("ending", "package", "extra"), [("stl", "trimesh", "meshes"), ("usda", "pxr", "usd")])
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, ending, package, extra):
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('no {package}', name='{package}')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    file = tmp_path / f"thing.{ending}"
    file.write_text("")
    with pytest.raises(MissingExtraError, match=rf"pip install 'handloom\[{extra}\]'"):
        import_object(file)
