"""Keys of each skill in a task file; one config class per published skill."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Discriminator, Tag
from pydantic_core import PydanticCustomError

from handloom.errors import suggest
from handloom.skills.configs import articulated, contacts, motions, picks, places
from handloom.skills.configs.parts import SkillConfig

SKILL_CONFIGS: dict[str, type[SkillConfig]] = {
    "aim": contacts.AimConfig,
    "approach__rotate": places.ApproachRotateConfig,
    "artpreplan": articulated.ArtPreplanConfig,
    "carry": places.CarryConfig,
    "close": articulated.CloseConfig,
    "dexpick": picks.DexPickConfig,
    "dexplace": places.DexPlaceConfig,
    "dynamicpick": picks.DynamicPickConfig,
    "fail_pick": picks.FailPickConfig,
    "flip": places.FlipConfig,
    "goto__pose": motions.GotoPoseConfig,
    "gripper__action": motions.GripperActionConfig,
    "hang": places.HangConfig,
    "heuristic__skill": motions.HeuristicSkillConfig,
    "home": motions.HomeConfig,
    "joint__ctrl": motions.JointCtrlConfig,
    "lift": contacts.LiftConfig,
    "manualpick": picks.ManualPickConfig,
    "mobile__rotate": motions.MobileRotateConfig,
    "mobile__translate": motions.MobileTranslateConfig,
    "move": places.MoveConfig,
    "navigate": motions.NavigateConfig,
    "open": articulated.OpenConfig,
    "pick": picks.PickConfig,
    "place": places.PlaceConfig,
    "pour": motions.PourConfig,
    "pour__water__succ": motions.PourWaterSuccConfig,
    "press": contacts.PressConfig,
    "push": contacts.PushConfig,
    "rotate": articulated.RotateConfig,
    "rotate__obj": places.RotateObjConfig,
    "scan": places.ScanConfig,
    "shake": contacts.ShakeConfig,
    "track": motions.TrackConfig,
    "use": contacts.UseConfig,
    "wait": motions.WaitConfig,
    "wipe": contacts.WipeConfig,
}
"""Published name > config class."""

DRIVING = frozenset({"mobile__rotate", "mobile__translate", "navigate"})
"""Skills that drive the base of their robot."""


def drives_base(skill: SkillConfig) -> bool:
    """Return whether a skill drives the base of its robot."""
    return skill_name(skill.name) in DRIVING or bool(getattr(skill, "by_driving", False))


OWN_SKILL = "my_module:MySkill"
"""Tag of a user's own skill, named ``module:Class`` in the task file; the class brings its own config."""


class OwnSkillConfig(SkillConfig):
    """A user's own skill; its keys are checked by the ``Config`` of the class it names."""

    model_config = ConfigDict(extra="allow")


def skill_name(given: str) -> str:
    """Return the published spelling of a skill's name: ``goto_pose`` and ``goto__pose`` are the same skill."""
    if given in SKILL_CONFIGS:
        return given
    plain = given.replace("_", "")
    return next((name for name in SKILL_CONFIGS if name.replace("_", "") == plain), given)


def _tag(value: Any) -> str | None:
    name = value.get("name") if isinstance(value, dict) else getattr(value, "name", None)
    if not isinstance(name, str):
        return None
    return OWN_SKILL if ":" in name else skill_name(name)


def _known(value: Any) -> Any:
    """Refuse an unknown skill and suggest the nearest one."""
    tag = _tag(value)
    if tag is None:
        raise PydanticCustomError("unknown_skill", "a skill is a mapping with a name")
    if tag not in SKILL_CONFIGS and tag != OWN_SKILL:
        hint = f"{suggest(tag, SKILL_CONFIGS)}, or your own as {OWN_SKILL}"
        raise PydanticCustomError("unknown_skill", "no skill named '{name}'; {hint}", {"name": tag, "hint": hint})
    return value


if TYPE_CHECKING:
    AnySkillConfig = SkillConfig
else:
    _TAGGED = [Annotated[model, Tag(name)] for name, model in SKILL_CONFIGS.items()]
    AnySkillConfig = Annotated[
        reduce(or_, [*_TAGGED, Annotated[OwnSkillConfig, Tag(OWN_SKILL)]]), Discriminator(_tag), BeforeValidator(_known)
    ]
    """Type of one skill in a task file; its ``name`` selects the config."""
