"""How long a person waits for a chart, in seconds of the processor: those of the clock are the machine's affair."""

import pytest

from benchmarks import first_chart


@pytest.mark.slow
def test_the_first_chart_of_the_sample_stands_within_a_second_of_the_imports_and_run_all_within_five() -> None:
    waited = first_chart.measure("the sample", "sample", "10_tool_usage", runs=1)
    _, imports = waited["imports"]
    _, first = waited["first_chart"]
    _, run_all = waited["run_all"]
    assert first < 1
    assert imports < 2.5, "something slow is imported again"
    assert run_all < 5
