"""The page of all claims: what is not held stands first, with its instrument and error."""

from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.outcome import VERDICTS
from sibyl.reproduce.page import ORDER, markdown


def document(name: str, how: str, *verdicts: str, **more: str) -> dict[str, object]:
    claims = [
        {"text": f"claim {v} of {name}", "verdict": v, "reason": "So.", "kind": "paper",
         "published": "2.5", "ours": "1.2 | 1.3"}
        for v in verdicts
    ]  # fmt: skip
    return {"item": name, "title": f"Title of {name}", "source": "Traeff 2025", "how": how,
            "setting": "simulated: so", "claims": claims, **more}  # fmt: skip


def test_what_is_not_held_stands_first_whatever_the_item() -> None:
    page = markdown(
        [document("a", "simulated", "held", "not judged", error="3 % (median)"),
         document("b", "measured on a cluster", "partly held", "not held")],
        ITEMS, "2026-11-24",
    )  # fmt: skip
    rows = [line for line in page.splitlines() if line.startswith("| claim ") and " of " in line]
    assert [row.rsplit("**", 2)[1] for row in rows] == list(ORDER)
    assert "| model, off by 3 % (median) | **held** |" in rows[3]
    assert "| cluster | **not held** |" in rows[0]
    assert "([b](#title-of-b)) | 2.5 | 1.2 \\| 1.3 |" in rows[0]
    assert "Written on 2026-11-24" in page
    assert "1 held, 1 partly held, 1 not held, 1 not judged" in page
    assert page.index("| claim | published | ours | instrument | verdict |") < page.index(
        "## Title"
    )


def test_controls_and_own_claims_have_tables_of_their_own() -> None:
    one = document("a", "simulated", "held")
    one["claims"][0]["kind"] = "control"
    page = markdown([one], ITEMS, "2026-11-24")
    assert "## What the papers say" not in page
    assert "## What knowing who is late is worth" in page
    assert "| model, error unknown | **held** |" in page
    assert "`scatter-figure-14` (simulated)" in page  # not run


def test_the_page_says_what_concurrency_gives_beside_knowing() -> None:
    paper, control = document("a", "simulated", "held"), document("b", "simulated", "held")
    control["claims"][0]["kind"] = "control"
    before, _, after = markdown([paper, control], ITEMS, "2026-11-24").partition("## What knowing")
    assert "concurrency and early receipt" in after.partition("## ")[0]
    assert "concurrency" not in before
    assert "concurrency" not in markdown([paper], ITEMS, "2026-11-24")


def test_every_verdict_is_explained() -> None:
    page = markdown([], ITEMS, "2026-11-24")
    assert sorted(ORDER) == sorted(VERDICTS)
    for verdict in VERDICTS:
        assert f"- **{verdict}**: " in page
