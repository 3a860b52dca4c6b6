"""Tunable parameters: bounds, all-or-nothing updates, JSON, and the sync before every frame."""

import json

import numpy as np
import pytest

from handloom.retarget import (
    BaseRetargeter,
    BoolParameter,
    FloatParameter,
    FloatType,
    IntParameter,
    ParameterState,
    TensorGroupType,
    VectorParameter,
)


def specs():
    return [
        BoolParameter("on"),
        FloatParameter("gain", min_value=0.0, max_value=2.0, default_value=1.0),
        IntParameter("count", max_value=5),
        VectorParameter("offset", element_names=("x", "y"), min_value=-1.0, max_value=(1.0, 2.0)),
        FloatParameter("scratch", saveable=False),
    ]


def test_defaults_are_the_published_ones() -> None:
    state = ParameterState("s", specs())
    values = state.get_all_values()
    assert (values["on"], values["gain"], values["count"], values["scratch"]) == (False, 1.0, 0, 0.0)
    assert values["offset"].dtype == np.float32
    assert FloatParameter("f").step_size == VectorParameter("v", element_names=("a",)).step_size == 0.01
    assert IntParameter("i").max_value == 2**31 - 1


def test_impossible_descriptions_are_refused() -> None:
    with pytest.raises(ValueError, match="min_value must be below max_value"):
        FloatParameter("f", min_value=1.0, max_value=1.0)
    with pytest.raises(ValueError, match="doesn't match"):
        VectorParameter("v", element_names=("a", "b"), default_value=[1.0])
    with pytest.raises(ValueError, match="doesn't match"):
        VectorParameter("v", element_names=("a", "b"), min_value=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="default"):
        FloatParameter("f", min_value=1.0)
    with pytest.raises(ValueError, match="element_names"):
        VectorParameter("v")
    with pytest.raises(ValueError, match="at least one"):
        ParameterState("s", [])


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("on", 1),
        ("gain", 2.1),
        ("gain", True),
        ("gain", float("nan")),
        ("count", 1.0),
        ("count", 6),
        ("offset", [0.0]),
        ("offset", [0.0, 3.0]),
        ("offset", "ab"),
        ("offset", [0.0, float("nan")]),
    ],
)
def test_bad_values_are_refused_and_change_nothing(name, bad) -> None:
    state = ParameterState("s", specs())
    with pytest.raises(ValueError, match=name):
        state.set({"count": 2, name: bad} if name != "count" else {"on": True, name: bad})
    assert state.get(["count", "on"]) == {"count": 0, "on": False}


def test_an_unknown_name_is_a_key_error_with_a_hint() -> None:
    with pytest.raises(KeyError, match="did you mean 'gain'"):
        ParameterState("s", specs()).set({"gian": 1.0})


def test_values_come_out_as_copies() -> None:
    state = ParameterState("s", specs())
    state.get(["offset"])["offset"][0] = 9.0
    assert state.get(["offset"])["offset"][0] == 0.0


def test_json_round_trip_keeps_values_and_leaves_out_what_is_not_saveable(tmp_path) -> None:
    file = tmp_path / "deep" / "state.json"
    state = ParameterState("s", specs(), file)
    state.set({"on": True, "gain": 0.1, "count": 3, "offset": [0.1, 2.0], "scratch": 7.0})
    assert state.save_to_file()
    assert "scratch" not in json.loads(file.read_text())
    twin = ParameterState("s", specs(), file)
    np.testing.assert_array_equal(twin.get(["offset"])["offset"], np.array([0.1, 2.0], np.float32))
    assert twin.get(["on", "gain", "count", "scratch"]) == {"on": True, "gain": 0.1, "count": 3, "scratch": 0.0}
    twin.reset_to_defaults()
    assert twin.get(["gain"]) == {"gain": 1.0}


def test_bad_values_in_a_file_fall_back_and_are_named(tmp_path) -> None:
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"gain": 99.0, "count": 4, "stranger": 1}))
    state = ParameterState("s", specs(), file)
    assert state.get(["gain", "count"]) == {"gain": 1.0, "count": 4}
    assert state.rejected == ("gain",)
    file.write_text("not json")
    assert not state.load_from_file()
    assert not ParameterState("s", specs()).save_to_file()


class Gain(BaseRetargeter):
    def __init__(self) -> None:
        self.gain = 0.0
        spec = FloatParameter("gain", default_value=2.0, sync_fn=lambda value: setattr(self, "gain", value))
        super().__init__("gain", ParameterState("gain", [spec]))

    def input_spec(self):
        return {}

    def output_spec(self):
        return {"out": TensorGroupType("out", [FloatType("x")])}

    def _compute_fn(self, inputs, outputs, context) -> None:
        outputs["out"][0] = self.gain


def test_an_edit_shows_on_the_next_frame() -> None:
    node = Gain()
    assert node.gain == 2.0
    node.get_parameter_state().set({"gain": 5.0})
    assert node.gain == 2.0
    assert node({})["out"][0] == 5.0
