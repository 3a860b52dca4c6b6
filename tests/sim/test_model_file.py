"""Model files that may come from anybody are looked over before MuJoCo reads them."""

import struct
from pathlib import Path

import pytest

from handloom.errors import ConfigError, FileError, NotAllowedError
from handloom.sim.model_file import demand_files_inside, read_xml, rehearse_model

PLAIN = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"

CORNERS, FACES = ((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)), ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
ROWS = b"".join(struct.pack("<12fH", 0, 0, 1, *(x for i in face for x in CORNERS[i]), 0) for face in FACES)
TETRAHEDRON = b"\0" * 80 + struct.pack("<I", 4) + ROWS


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_an_honest_model_with_comments_that_xml_forbids_passes(tmp_path: Path) -> None:
    write(tmp_path, "part.xml", PLAIN)
    file = write(tmp_path, "main.xml", "<mujoco><!-- a -- b --><include file='part.xml'/></mujoco>")
    demand_files_inside(file, [tmp_path])
    rehearse_model(file, [tmp_path])


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b", "c")])
def test_includes_in_a_circle_are_named(tmp_path: Path, names: tuple[str, ...]) -> None:
    for here, there in zip(names, (*names[1:], names[0]), strict=True):
        write(tmp_path, f"{here}.xml", f"<mujoco><include file='{there}.xml'/></mujoco>")
    with pytest.raises(FileError, match=rf"a.xml includes itself: {' > '.join(f'{n}.xml' for n in names)} > a.xml"):
        demand_files_inside(tmp_path / "a.xml", [tmp_path])


def test_a_model_that_is_made_of_itself_is_a_circle_too(tmp_path: Path) -> None:
    file = write(tmp_path, "a.xml", "<mujoco><asset><model name='m' file='a.xml'/></asset></mujoco>")
    with pytest.raises(FileError, match="includes itself"):
        rehearse_model(file, [tmp_path])


def test_a_part_that_is_included_twice_is_no_circle(tmp_path: Path) -> None:
    write(tmp_path, "part.xml", "<mujoco/>")
    write(tmp_path, "b.xml", "<mujoco><include file='part.xml'/></mujoco>")
    file = write(tmp_path, "a.xml", "<mujoco><include file='b.xml'/><include file='part.xml'/></mujoco>")
    demand_files_inside(file, [tmp_path])


def test_a_file_of_an_included_file_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path, "secret.stl", "")
    write(tmp_path / "in", "part.xml", "<mujoco><asset><mesh file='../secret.stl'/></asset></mujoco>")
    file = write(tmp_path / "in", "main.xml", "<mujoco><include file='part.xml'/></mujoco>")
    with pytest.raises(NotAllowedError, match=r"part.xml: '../secret.stl': .*secret.stl lies outside"):
        rehearse_model(file, [tmp_path / "in"])
    with pytest.raises(ConfigError, match="MuJoCo cannot read this model"):
        rehearse_model(file, None)  # It may be read, and is no mesh.


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "1"><!ENTITY b "&a;&a;">]><mujoco/>'
    with pytest.raises(FileError, match="has a document type"):
        read_xml(write(tmp_path, "bomb.xml", bomb))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            PLAIN.replace("<worldbody>", "<custom><numeric name='n' size='2000000000'/></custom><worldbody>"),
            "bomb.xml: ",
        ),
        (PLAIN.replace("<geom size='.1'/>", "<replicate count='9000'><geom size='.1'/></replicate>"), "ngeom = 9000; "),
    ],
)
def test_a_model_that_is_too_large_for_a_robot_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((ConfigError, FileError), match=said):
        rehearse_model(write(tmp_path, "bomb.xml", text), [tmp_path])


MESH = "<mesh name='m' file='{}' content_type='model/stl'/>"
USE = "<worldbody><body name='b'><geom type='mesh' mesh='m'/></body></worldbody>"


@pytest.mark.parametrize(
    ("main", "part"),
    [
        ("<compiler meshdir='../out'/><include file='piece.xml'/>", f"<asset>{MESH.format('s.stl')}</asset>{USE}"),
        ("<include file='piece.xml'/><compiler meshdir='..\\out'/>", f"<asset>{MESH.format('s.stl')}</asset>{USE}"),
        ("<compiler assetdir='../out'/><include file='piece.xml'/>", f"<asset>{MESH.format('s.stl')}</asset>{USE}"),
        (f"<asset>{MESH.format('..' + chr(92) + 'out' + chr(92) + 's.stl')}</asset>{USE}", ""),
        ("<include file='..\\out\\part.xml'/>", ""),
        (f"<asset>{MESH.format(' odd.stl')}</asset>{USE}", ""),
        (f"<asset>{MESH.format('a&copy.stl')}</asset>{USE}", ""),
        (f"<asset>{MESH.format('a' + chr(10) + 'b.stl')}</asset>{USE}", ""),
        (f"<asset>{MESH.format('&#x6c;ink.stl')}</asset>{USE}", ""),
        (f"<compiler strippath='true'/><asset>{MESH.format('x/y/link.stl')}</asset>{USE}", ""),
        (f"<asset>{MESH.format('deep/../../out/s.stl')}</asset>{USE}", ""),
        ("<include file=' odd.xml'/>", ""),
    ],
)
def test_no_way_of_writing_a_name_leads_out(tmp_path: Path, main: str, part: str) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "a" / "b").mkdir(parents=True)
    (inside / "deep").symlink_to("a/b")  # MuJoCo takes deep/.. for the folder itself.
    outside.mkdir()
    (outside / "s.stl").write_bytes(TETRAHEDRON)
    write(outside, "part.xml", PLAIN)
    for name in (" odd.stl", "a&copy.stl", "a\nb.stl", "link.stl"):
        (inside / name).symlink_to("../out/s.stl")
    (inside / " odd.xml").symlink_to("../out/part.xml")
    write(inside, "piece.xml", f"<mujoco>{part}</mujoco>")
    file = write(inside, "main.xml", f"<mujoco>{main}</mujoco>")
    rehearse_model(file, None)  # MuJoCo finds it.
    with pytest.raises(NotAllowedError, match="lies outside"):
        demand_files_inside(file, [inside])
    with pytest.raises(NotAllowedError, match="lies outside"):
        rehearse_model(file, [inside])


def test_meshes_of_an_include_are_found_where_the_main_file_says(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "s.stl").write_bytes(TETRAHEDRON)
    write(tmp_path, "part.xml", f"<mujoco><asset>{MESH.format('s.stl')}</asset>{USE}</mujoco>")
    file = write(tmp_path, "main.xml", "<mujoco><compiler meshdir='meshes'/><include file='part.xml'/></mujoco>")
    rehearse_model(file, [tmp_path])
