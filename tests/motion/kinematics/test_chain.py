"""Chains against MuJoCo's own kinematics, on a plain and on a deliberately awkward arm."""

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.motion.kinematics import Chain, JointTree, halton
from handloom.spatial import invert_pose, make_pose

ARMS = (("fr3", "tcp", "link0"), ("odd_arm", "tool", "cart"), ("odd_arm", "tool", "world"), ("odd_arm", "e", "mount"))


def random_configurations(chain: Chain, count: int) -> np.ndarray:
    lower, upper = chain.sampling_box
    return lower + (upper - lower) * np.random.default_rng(3).random((count, chain.dof))


def pose_in_base(model: mujoco.MjModel, data: mujoco.MjData, chain: Chain) -> np.ndarray:
    base = data.body(chain.base)
    tool = data.site(chain.tool) if chain.tool in {"tcp", "tool"} else data.body(chain.tool)
    T_world_base = make_pose(base.xmat.reshape(3, 3), base.xpos)
    return invert_pose(T_world_base) @ make_pose(tool.xmat.reshape(3, 3), tool.xpos)


@pytest.fixture(params=ARMS, ids="-".join)
def arm(request) -> tuple[mujoco.MjModel, Chain]:
    name, tool, base = request.param
    model = request.getfixturevalue(name)
    return model, Chain.from_model(model, tool=tool, base=base)


def test_forward_kinematics_agree_with_mujoco(arm):
    model, chain = arm
    data = mujoco.MjData(model)
    q = random_configurations(chain, 20)
    T = chain.T_base_tool(q)
    for i in range(len(q)):
        data.qpos[chain.qpos_index] = q[i]
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(T[i], pose_in_base(model, data, chain), atol=1e-12)


def test_the_kernel_agrees_with_plain_numpy(arm):
    model, chain = arm
    tree = JointTree.from_model(model, chain.joint_names, root=chain.base)
    T_link_tip = make_pose(chain.arrays.rotations[-1], chain.arrays.positions[-1])
    for q in random_configurations(chain, 5):
        np.testing.assert_allclose(chain.T_base_tool(q), tree.T_root_links(q)[-1] @ T_link_tip, atol=1e-13)


def test_the_jacobian_is_the_derivative_of_the_pose(arm):
    _, chain = arm
    h = 1e-6
    for q in random_configurations(chain, 5):
        J = chain.jacobian(q)
        for k in range(chain.dof):
            step = np.zeros(chain.dof)
            step[k] = h
            dT = (chain.T_base_tool(q + step) - chain.T_base_tool(q - step)) / (2 * h)
            spin = dT[:3, :3] @ chain.T_base_tool(q)[:3, :3].T
            np.testing.assert_allclose(J[:3, k], dT[:3, 3], atol=1e-8)
            np.testing.assert_allclose(J[3:, k], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)


def test_batches_of_any_shape_give_the_same_bits_on_any_thread_count(fr3):
    chain = Chain.from_model(fr3, tool="tcp")
    q = random_configurations(chain, 9000)
    one = chain.T_base_tool(q, threads=1)
    np.testing.assert_array_equal(one, chain.T_base_tool(q, threads=4))
    np.testing.assert_array_equal(one.reshape(90, 100, 4, 4), chain.T_base_tool(q.reshape(90, 100, 7)))


def test_joints_that_were_not_chosen_are_held_where_asked(odd_arm):
    qpos = odd_arm.qpos0.copy()
    qpos[odd_arm.joint("a2").qposadr] = 0.7
    free = ["lift", "a1", "b1", "c1", "d1", "e1"]
    chain = Chain.from_model(odd_arm, tool="tool", joints=free, qpos=qpos)
    whole = Chain.from_model(odd_arm, tool="tool")
    q = np.array([0.2, 0.1, 0.05, 1.0, -0.3, 0.4])
    np.testing.assert_allclose(chain.T_base_tool(q), whole.T_base_tool(np.insert(q, 2, 0.7)), atol=1e-12)


def test_unlimited_joints_have_infinite_limits_but_a_finite_sampling_box(odd_arm):
    chain = Chain.from_model(odd_arm, tool="tool")
    k = chain.joint_names.index("c1")
    assert chain.lower[k] == -np.inf
    assert chain.upper[k] == np.inf
    assert np.all(np.isfinite(chain.sampling_box))


def test_limit_excess_is_zero_inside_and_the_distance_outside(fr3):
    chain = Chain.from_model(fr3, tool="tcp")
    q = chain.middle
    q[3] = chain.upper[3] + 0.25
    np.testing.assert_allclose(chain.limit_excess(q), [0, 0, 0, 0.25, 0, 0, 0])


def test_wrong_names_are_answered_with_the_names_that_exist(fr3):
    with pytest.raises(NotFoundError, match="no site or body named 'tpc'; did you mean 'tcp'"):
        Chain.from_model(fr3, tool="tpc")
    with pytest.raises(NotFoundError, match="no body named 'lnik0'; did you mean 'link0'"):
        Chain.from_model(fr3, tool="tcp", base="lnik0")
    with pytest.raises(NotFoundError, match="no joint between 'link0' and 'tcp' named 'leftfinger_joint'"):
        Chain.from_model(fr3, tool="tcp", base="link0", joints=["joint1", "leftfinger_joint"])


def test_impossible_chains_are_refused(fr3):
    with pytest.raises(InputError, match="not above"):
        Chain.from_model(fr3, tool="leftfinger", base="rightfinger")
    with pytest.raises(InputError, match="cannot move"):
        Chain.from_model(fr3, tool="tcp", base="hand")
    with pytest.raises(InputError, match="7 values"):
        Chain.from_model(fr3, tool="tcp").T_base_tool(np.zeros(6))


def test_a_tree_refuses_children_listed_before_their_parents(fr3):
    with pytest.raises(InputError, match="must be listed after"):
        JointTree.from_model(fr3, ["joint2", "joint1"])


def test_a_tree_follows_every_body_of_the_model(odd_arm):
    tree = JointTree.from_model(odd_arm, ["a1", "a2", "d1"])
    data = mujoco.MjData(odd_arm)
    q = np.array([0.4, -0.7, 1.1])
    data.qpos[tree.qpos_index] = q
    mujoco.mj_kinematics(odd_arm, data)
    T_root_link = np.concatenate([tree.T_root_links(q), np.eye(4)[None]])
    for body in range(odd_arm.nbody):
        T = T_root_link[tree.body_link[body]] @ tree.T_link_body[body]
        np.testing.assert_allclose(T, make_pose(data.xmat[body].reshape(3, 3), data.xpos[body]), atol=1e-12)


def test_halton_points_fill_the_box_evenly_and_only_append():
    points = halton(512, 3, seed=1)
    counts = np.histogramdd(points, bins=(4, 4, 4), range=[(0, 1)] * 3)[0]
    assert counts.min() >= 5
    assert counts.max() <= 11
    np.testing.assert_array_equal(points[:100], halton(100, 3, seed=1))
    assert np.abs(points - halton(512, 3, seed=2)).max() > 0.01
