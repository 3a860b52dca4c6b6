"""``handloom object show|import|add|annotate``: inspect objects, import your own, annotate their joints."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from handloom.cli.flags import (
    File,
    Number,
    Object,
    OptionalFile,
    OptionalFloat,
    OptionalOutput,
    OptionalText,
    Place,
    Robot,
)
from handloom.safe_paths import safe_name

if TYPE_CHECKING:
    from handloom.objects import Link


def show(
    name: Object,
    /,
    *,
    output: OptionalOutput = None,
    count: Number = 12,
    seed: Number = 0,
    size: Number = 240,
    joints: bool = False,
    robot: Robot = "fr3",
) -> None:
    """Print the parameters of a category and draw variants; `all` draws one object of every category.

    Parameter names are those of `parameters` in a task, with the distribution used if the task does not set them. Also
    printed: object sizes, what can be placed in or on them, and the number of grasps of the first variant.

    Args:
        name: A category of `handloom list objects`, `my_module:my_function`, or `all`.
        output: The file to write; by default NAME.png in this folder.
        count: Number of variants.
        seed: Different seeds give different variants.
        size: Width and height of each image [px].
        joints: Also draw the keypoints and axes of every joint, and print them for the first variant.
        robot: Robot for whose gripper grasps are counted.
    """
    from handloom.config import allow_code
    from handloom.errors import InputError
    from handloom.objects import object_categories
    from handloom.objects.portrait import overview_sheet, variants_sheet
    from handloom.render import write_png

    if not 1 <= count <= 200:
        raise InputError(f"--count must lie between 1 and 200, got {count}")
    if not 32 <= size <= 2048:
        raise InputError(f"--size must lie between 32 and 2048 pixels, got {size}")
    if joints and name == "all":
        raise InputError("--joints needs one category; it does not work with `all`")
    if name == "all":
        sheet = overview_sheet(object_categories(), seed=seed, size=size)
    else:
        allow_code(name)  # Named by the user on the command line.
        sheet = variants_sheet(name, count=count, seed=seed, size=size, joints=joints)
        _print_facts(name, seed, robot)
        if joints:
            _print_joints(name, seed)
    print(write_png(output or Path(safe_name(f"{name.replace(':', '_')}.png")), sheet))


def _print_facts(name: str, seed: int, robot: str) -> None:
    """Print the parameters and sizes of a category, and whether the gripper of a robot can hold its first variant."""
    import numpy as np

    from handloom.grasping import AnnotateOptions, GripperShape, annotate, rim_grasps_for
    from handloom.objects import category_ranges, make_object
    from handloom.robots import load_robot
    from handloom.scene.named_points import facing_side, known_points
    from handloom.seeding import generator

    ranges = category_ranges(name)
    print(f"parameters of {name} (lengths in m):" if ranges.parameters else f"{name} has no parameters")
    for parameter, offer in ranges.parameters.items():
        print(f"  {parameter:<18}{offer}")
    sides = zip(1000 * ranges.smallest, 1000 * ranges.largest, strict=True)
    print("size:    " + " x ".join(f"{low:.0f}-{high:.0f}" for low, high in sides) + " mm (width x depth x height)")
    obj = make_object(name, rng=generator(seed, 0, name))
    kinds = [f"joints {', '.join(link.joint for link in obj.joints)}"] if obj.joints else []
    kinds += ["a container: other objects can be placed in it"] if obj.holds else []
    print("is:      " + "; ".join([f"rests in {len(obj.stable_quats)} poses", *kinds]))
    stacked = sorted((link for link in obj.joints if link.kind == "slide"), key=lambda link: link.origin[2])
    if len(stacked) > 1 and stacked[0].origin[2] < stacked[-1].origin[2]:
        names = [f"{stacked[0].name} (bottom)", *(link.name for link in stacked[1:-1]), f"{stacked[-1].name} (top)"]
        print(f"parts:   from the lowest up, in this variant: {', '.join(names)}")
    print(f"points:  {', '.join(known_points(obj))}")
    if obj.axes:
        print(f"axes:    {', '.join(obj.axes)}")
    print(f"facing:  turns {facing_side(obj)}")
    description = load_robot(robot)
    hand = f"{description.name} (opens {1000 * description.arms[0].gripper_max_width:.0f} mm)"
    gripper = GripperShape.of(description, description.arms[0])
    grasps = annotate(obj, gripper, AnnotateOptions(), np.random.default_rng(seed))
    if len(grasps):
        print(f"grasps:  {len(grasps)} by {hand}")
    elif rims := len(rim_grasps_for(obj, gripper)):
        print(f"grasps:  none across it by {hand}; {rims} of its rim, by which pick takes it")
    else:
        print(f"grasps:  none by {hand}: it cannot be picked")


def _print_joints(name: str, seed: int) -> None:
    """Print the keypoints of every joint of the first variant of a sheet."""
    from handloom.errors import InputError
    from handloom.objects import make_object
    from handloom.seeding import generator

    obj = make_object(name, rng=generator(seed, 0, name))
    if not obj.joints:
        raise InputError(f"{name} has no joints")
    for link in obj.joints:
        _print_joint(obj.name, link)


def _print_joint(name: str, link: "Link") -> None:
    """Print the points and axes of one joint, in the frame of its link."""
    unit = "rad" if link.kind == "hinge" else "m"
    print(f"{name}, {link.joint}: {link.kind}, {link.range[0]:.3g} to {link.range[1]:.3g} {unit}")
    points = {"head": link.head, "tail": link.tail, "push": link.push or link.head}
    axes = {"axis": link.axis, "contact axis": link.contact_axis, "normal": link.normal, "hand from": link.held_from}
    for word, values in (points | axes).items():
        print(f"  {word:<13}" + " ".join(f"{value:8.4f}" for value in values))


def annotate(
    path: File,
    /,
    *,
    joint: OptionalText = None,
    output: OptionalOutput = None,
    accept: bool = False,
    head: Place = None,
    push: Place = None,
    contact_axis: Place = None,
    scale: float = 1.0,
    allow_outside: bool = False,
    size: Number = 480,
) -> None:
    """Propose the points where a hand grasps and pushes a moving part; draw them, and write them with --accept.

    The handle, or else the rim, is found from the shape of the moving part; the axis comes from the joint. In the
    image, red marks where the fingers close, blue where they push, orange the direction of the handle, violet the
    approach direction. Move a point with --head or --push, and check the image again.

    Args:
        path: An MJCF, URDF or USD file with joints.
        joint: The moving part or its joint; by default the first.
        output: The image; by default FILE_JOINT.png in this folder.
        accept: Write Kps/open and Kps/close (Kps/pull and Kps/push for drawers) beside the file.
        head: Use this point for the fingers to close, in the frame of the moving part [m].
        push: Use this point to push the part closed, in the same frame [m].
        contact_axis: Use this direction along the handle, in the same frame.
        scale: Factor on all lengths of the file.
        allow_outside: Let the file include or refer to files outside its folder and the three levels above it.
        size: Width and height of each image [px].
    """
    import numpy as np

    from handloom.objects import import_object, write_keypoints
    from handloom.objects.importers.edit_annotation import chosen_joint, edited
    from handloom.objects.keypoints import joint_keypoints
    from handloom.objects.portrait import portrait
    from handloom.render import write_png

    asset = import_object(path, scale=scale, allow_outside=allow_outside).asset
    index = chosen_joint(asset, joint)
    link = edited(asset.joints[index], head=head, push=push, contact_axis=contact_axis)
    marked = replace(asset, joints=(link,))
    _print_joint(asset.name, link)
    pictures = [portrait(marked, size=size, opened=opened, joints=True) for opened in (0.0, 0.5)]
    print(write_png(output or Path(safe_name(f"{path.stem}_{link.name}.png")), np.concatenate(pictures, axis=1)))
    names = ("pull", "push") if link.kind == "slide" else ("open", "close")
    if not accept:
        print(f"nothing written: --accept writes Kps/{names[0]} and Kps/{names[1]} beside {path.name}")
        return
    for name, action in zip(names, ("open", "close"), strict=True):
        print(write_keypoints(path.parent, name, joint_keypoints(link, index, action)))


def import_file(
    path: File,
    /,
    *,
    output: OptionalOutput = None,
    scale: float = 1.0,
    unit: Annotated[Literal["m", "cm", "mm"] | None, tyro.conf.arg(metavar="{m,cm,mm}", help_behavior_hint="")] = None,
    up: Annotated[Literal["y", "z"] | None, tyro.conf.arg(metavar="{y,z}", help_behavior_hint="")] = None,
    mass: OptionalFloat = None,
    substance: Annotated[str, tyro.conf.arg(metavar="SUBSTANCE")] = "plastic",
    info_name: OptionalText = None,
    body: OptionalText = None,
    seconds: float = 15.0,
    allow_outside: bool = False,
    size: Number = 480,
) -> None:
    """Read an object from a file and report which elements were kept, converted and dropped.

    Args:
        path: An MJCF, URDF, OBJ, STL, PLY, GLB, DAE or USD file.
        output: Also draw the object into this PNG file.
        scale: Factor on all lengths.
        unit: Length unit of a mesh file; by default metres, or the unit stated in a DAE file; objects larger than 5 m
            are refused.
        up: Axis that points up in a mesh file; by default z, y for GLB, or the axis stated in a DAE file.
        mass: Mass of a mesh file [kg]; by default computed from the substance.
        substance: Material of a mesh file: ceramic, wood, steel, plastic and so on.
        info_name: Annotation folder of an articulated USD asset, e.g. open_v.
        body: Body of an MJCF scene to use as the object; by default the whole file.
        seconds: Time limit for reading [s]; decomposing a surface with holes into convex parts takes a minute or two.
        allow_outside: Let the file include or refer to files outside its folder and the three levels above it.
        size: Width and height of the image [px].
    """
    from handloom.objects import import_object
    from handloom.objects.geometry import geom_ids
    from handloom.objects.portrait import portrait
    from handloom.render import write_png

    imported = import_object(
        path,
        scale=scale,
        unit=unit,
        up=up,
        mass=mass,
        substance=substance,
        info_name=info_name,
        body=body,
        allow_outside=allow_outside,
        seconds=seconds,
    )
    asset = imported.asset
    print(imported.report.text())
    extent = " x ".join(f"{1000 * length:.0f}" for length in asset.extent)
    rests = f"{len(asset.stable_quats)} stable poses" if geom_ids(asset.model, solid=True) else "nothing solid"
    print(f"{asset.name}: {extent} mm, {asset.mass:.3g} kg, {asset.model.ngeom} geoms, {rests}")
    for joint in asset.joints:
        print(f"  {joint.joint}: {joint.kind}, {joint.range[0]:.3g} to {joint.range[1]:.3g}")
    if output is not None:
        print(write_png(output, portrait(asset, size=size, opened=0.4)))


def add(
    source: Annotated[str, tyro.conf.arg(metavar="PACKAGE")],
    names: Annotated[
        tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[NAME ...]", help_behavior_hint="")
    ] = (),
    /,
    *,
    output: OptionalOutput = None,
    picture: OptionalFile = None,
    listing: Annotated[bool, tyro.conf.arg(name="list")] = False,
    scale: float = 1.0,
    size: Number = 240,
) -> None:
    """Import the objects of a package or folder, each as a self-contained folder.

    A task then refers to `path: assets/PACKAGE/NAME/NAME.xml`. The table counts the elements kept, converted and
    dropped; report.txt beside each object has the details. Robots, scenes and anything over 3 m long are left out.

    Args:
        source: An installed package (robosuite, pybullet_data, gymnasium_robotics, metaworld), or a folder with models.
        names: Objects to import, `can` or `mug_*`; by default all.
        output: The folder to write to; by default assets/PACKAGE in this folder.
        picture: Also draw the imported objects, up to 24 of them, into this PNG file.
        listing: Only list the names and files.
        scale: Factor on all lengths.
        size: Width and height of each image [px].
    """
    from handloom.errors import HandloomError, InputError
    from handloom.objects.importers.object_packages import add_object, package_folder, packaged_objects
    from handloom.objects.portrait import assets_sheet
    from handloom.render import write_png

    folder = package_folder(source)
    found = packaged_objects(folder, names)
    width = max(len(obj.name) for obj in found)
    if listing:
        for obj in found:
            print(f"{obj.name:<{width}}  {obj.path.relative_to(folder)}{f' ({obj.body})' if obj.body else ''}")
        return
    library = output or Path("assets", safe_name(folder.name))
    assets, refused, names_of = [], [], {}
    print(f"{'object':<{width}}  {'size [mm]':<18} {'mass':>8}  joints  kept  converted  dropped")
    for obj in found:
        try:
            imported = add_object(obj, library, names_of, scale=scale)
        except HandloomError as error:
            refused.append(f"{obj.name}: {error}")
            continue
        asset, report = imported.asset, imported.report
        extent = " x ".join(f"{1000 * length:.0f}" for length in asset.extent)
        sentences = f"{len(report.kept):>4}  {len(report.converted):>9}  {len(report.dropped):>7}"
        print(f"{obj.name:<{width}}  {extent:<18} {asset.mass:>5.3g} kg  {len(asset.joints):>6}  {sentences}")
        assets.append(asset)
    for reason in refused:
        print(f"left out: {reason}")
    print(f"{len(assets)} of {len(found)} objects in {library}")
    if not assets:
        raise InputError(f"no object of {source} could be imported")
    if picture is not None:
        print(write_png(picture, assets_sheet(assets[:24], size=size)))


SUBVERBS = {"show": show, "import": import_file, "add": add, "annotate": annotate}
