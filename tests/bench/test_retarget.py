"""The retargeting benchmark measures the graph it says it measures."""

from handloom.bench.retarget import NODES, run, two_arm_graph


def test_the_graph_has_twenty_nodes() -> None:
    seen: dict[int, object] = {}

    def visit(module) -> None:
        seen[id(module)] = module
        for selector in getattr(module, "_bindings", {}).values():
            visit(selector.module)

    for selector in two_arm_graph()._mapping.values():
        visit(selector.module)
    assert len(seen) == NODES


def test_a_run_reports_both_rows_in_milliseconds() -> None:
    result = run(frames=5)
    assert result.bench == "retarget"
    assert [row["nodes"] for row in result.rows] == [NODES, NODES]
    assert all(row["median_ms"] > 0 for row in result.rows)
