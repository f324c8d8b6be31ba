"""The catalogue of guidelines, and what is measured in turns for them."""

from pathlib import Path

from sibyl.experiment.grid import COLLECTIVES
from sibyl.guidelines.catalogue import GUIDELINES, LEFT_SIDES, chosen
from sibyl.guidelines.groups import COLUMNS, TITLES, groups


def test_guidelines_have_names_of_their_own_and_columns_for_both_sides() -> None:
    names = [guideline.name for guideline in GUIDELINES]
    assert len(set(names)) == len(names)
    for guideline in GUIDELINES:
        assert {guideline.left, guideline.right} <= set(COLUMNS[guideline.family])
    for operation in (each for columns in COLUMNS.values() for each in columns):
        assert operation in TITLES
    documented = (Path(__file__).parents[3] / "docs" / "how-to" / "guidelines.md").read_text(
        "utf-8"
    )
    for guideline in GUIDELINES:
        assert f"{guideline.name} | {guideline.text}" in documented
    assert set(LEFT_SIDES) | {"scan"} == set(COLLECTIVES)


def test_what_is_measured_in_turns_has_both_sides_of_every_guideline() -> None:
    for problems in (["same"], ["spikes"], ["same", "random", "two-blocks"]):
        for group in groups(GUIDELINES, problems):
            for guideline in group.guidelines:
                assert {guideline.left, guideline.right} <= set(group.operations)
            if group.problems != ("same",):
                assert all(guideline.everywhere for guideline in group.guidelines)
    assert groups(chosen(["gather"]), ["spikes"]) == []
    (group,) = groups(chosen(["gatherv"]), ["spikes"])
    assert group.operations == ("gather", "padded-gather", "gatherv")
