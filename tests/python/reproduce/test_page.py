"""The page of all claims: what is not held stands first, with its instrument and error."""

import json
import re
from dataclasses import asdict
from pathlib import Path

from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.cross_validation import Case, outcome_of
from sibyl.reproduce.headlines import HEADLINES, MAIN, headline
from sibyl.reproduce.outcome import VERDICTS, Where
from sibyl.reproduce.page import (
    DETAILS,
    MADE_EARLIER,
    MEASURED_EARLIER,
    ORDER,
    details,
    markdown,
)
from sibyl.reproduce.rack import LINKS_SHARED
from sibyl.reproduce.results import read_result

RESULTS = Path(__file__).parents[3] / "docs" / "results"
HEADLINE = HEADLINES[0][0]
MOST_LETTERS, MOST_ROWS = 20_000, 55


def document(name: str, how: str, *verdicts: str, **more: str) -> dict[str, object]:
    claims = [
        {"text": f"claim {v} of {name}", "verdict": v, "reason": "So.", "kind": "paper",
         "published": "2.5", "ours": "1.2 | 1.3"}
        for v in verdicts
    ]  # fmt: skip
    return {"item": name, "title": f"Title of {name}", "source": "Traeff 2025", "how": how,
            "setting": "simulated: so", "claims": claims, **more}  # fmt: skip


def test_what_is_not_held_stands_first_whatever_the_item() -> None:
    documents = [document("a", "simulated", "held", "not judged", error="3 % (median)"),
                 document("b", "measured on a cluster", "partly held", "not held")]  # fmt: skip
    claims = [claim for of in documents for claim in of["claims"]]
    for claim, about in zip(claims, sorted(MAIN), strict=False):
        claim["text"] = about
    page = markdown(documents, ITEMS, "2026-11-24")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "**" in line]
    assert [row.rsplit("**", 2)[1] for row in rows] == list(ORDER)
    assert "| model: [a] (off by 3 % (median)) | **held** |" in rows[3]
    assert "| 2.5 | 1.2 \\| 1.3 | cluster: [b] | **not held** |" in rows[0]
    assert "\n[a]: reproduction-details.md#title-of-a\n[b]: reproduction-details.md#" in page
    assert "Written on 2026-11-24" in page
    assert "1 held, 1 partly held, 1 not held, 1 not judged" in page
    # It is the first table, and stands before everything but what the page is.
    assert page.index("| claim | published | ours | instrument | verdict |") < page.index("\n- ")


def test_a_model_without_published_times_says_how_often_such_a_model_agrees() -> None:
    turns, shared = document("a", "simulated", "held"), document("b", "simulated", "held")
    shared["setting"] = f"simulated: {LINKS_SHARED}"
    unknown = "model: [{}] (error unknown) | **held** |"
    assert unknown.format("b") in details([shared], "2026-11-24")
    # What `cross-validation` writes: of 7 cases the model agrees with SMPI in 6, with the cluster,
    # which takes longer, in 4 as it is and in 5 with handshakes.
    cases = [
        Case("gather", str(n), "flat", 1.0 if n < 5 else 9.0, 1.0, 2.0 if n == 0 else 1.0, 1.0, 2.0)
        for n in range(7)
    ]
    job = {"alpha_s": 1e-5, "beta_s_per_byte": 1e-8, "mpi": "MPI 9"}
    agreed = document("cross-validation", "measured on a cluster", "held")
    agreed["claims"] = [asdict(c) for c in outcome_of(cases, Where(), job).claims]
    page = details([turns, shared, agreed], "2026-11-24")
    said = (
        "(no printed times; within 10 % of SMPI in 6 of 7 and of the cluster in 4 of 7 other cells)"
    )
    assert f"model: [b] {said} | **held** |" in page
    assert unknown.format("a") in page
    (of_cluster,) = (c for c in agreed["claims"] if "of the cluster in at least" in c["text"])
    assert of_cluster["ours"] == "5 of 7"
    agreed["claims"] = [{**claim, "ours": ""} for claim in agreed["claims"]]
    assert unknown.format("b") in details([shared, agreed], "2026-11-24")


def test_a_claim_stands_once_with_its_verdict_on_every_instrument() -> None:
    factor = "BSLS is up to 2.52 times as fast as LS (2 M floats, 50 ms) (each to 12 %)"
    others = "the factors of the table are found again"
    documents = [
        document("gather-table-4-cluster", "measured on a cluster", "not held", "partly held"),
        document("gather-figures-15-20-cluster", "measured on a cluster", "not held"),
        document("gather-table-4", "simulated", "held", error="9 % (median), 46 % at most"),
        document("scatter-table-3-cluster", "measured on a cluster", "not held"),
    ]
    for each, texts in zip(documents, ((factor, others), (factor,), (factor,), (others,)),
                           strict=True):  # fmt: skip
        for claim, text in zip(each["claims"], texts, strict=True):
            claim.update(text=text, ours=each["item"][:8])
    page = markdown(documents, ITEMS, "2026-11-26")
    table = page.partition("| claim |")[2].partition("\n- **held**")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:] if line
    ]
    told = [(row[0], row[4], row[3].partition(":")[0]) for row in rows]
    assert told == [
        ("the factors of table 3", "**not held**", "cluster"),  # nowhere
        ("BSLS is up to 2.52 times as fast as LS (2 M floats, 50 ms)", "**not held**", "cluster"),
        ("", "**held**", "model"),
    ]
    # What the papers are not about stands among the details where it is held somewhere.
    assert "| the factors of table 4 |" in details(documents, "2026-11-26")
    # Both items of the cluster in one row, with their words, which have a margin.
    assert "[gather-table-4-cluster]" in rows[1][3] and "[gather-figures-15-20" in rows[1][3]
    assert rows[1][2] == "*(each to 12 %)*: gather-t, gather-f"
    assert rows[2][3].endswith("(off by 9 % (median), 46 % at most)")


def test_headlines_are_those_of_claims_that_items_make() -> None:
    """A claim that is worded anew would stand alone, or a headline name nothing."""
    made: set[str] = set()
    for path in (RESULTS / "reproduction").glob("*.json"):
        kept = json.loads(path.read_text())
        papers = [claim["text"] for claim in kept["claims"] if claim["kind"] == "paper"]
        made |= {headline(text, kept["item"]) for text in papers}
    headlines = {claim for claim, _ in HEADLINES}
    assert MAIN <= headlines <= made
    assert len(made) < 60


def kept() -> list[dict[str, object]]:
    """What the documentation's pages are made of."""
    folder = RESULTS / "reproduction"
    return [found for item in ITEMS if (found := read_result(item, folder)) is not None]


def test_no_words_of_a_paper_s_claim_are_lost_on_the_pages() -> None:
    documents = kept()
    page = markdown(documents, ITEMS, "2026-11-26").partition("\n- **held**")[0]
    more = details(documents, "2026-11-26").partition("\n## What knowing")[0]
    for each in documents:
        for claim in each["claims"]:
            if claim.get("kind", "paper") == "paper":
                about = headline(claim["text"], each["item"])
                (table,) = (text for text in (page, more) if f"| {about} |" in text)
                assert claim["text"].removeprefix(about).strip(" ,:") in table


def test_the_page_of_all_results_is_short() -> None:
    """What the papers are about, and what is not held; the rest is among the details."""
    documents = kept()
    assert len(documents) == len(ITEMS)
    page = markdown(documents, ITEMS, "2026-11-26")
    for text in (page, (RESULTS / "reproduction.md").read_text()):
        table, _, after = text.partition("\n- **held**")
        worth = after.partition("## What knowing")[2].partition("\n## ")[0]
        assert len(text) < MOST_LETTERS
        assert table.count("\n|") < MOST_ROWS
        assert worth.count("\n|") < 30
        for claim in table.splitlines():
            assert len(claim) < 1500
    table = page.partition("\n- **held**")[0]
    for each in documents:
        for claim in each["claims"]:
            about = headline(claim["text"], each["item"])
            if claim["kind"] == "paper" and claim["verdict"] == "not held":
                assert f"| {about} |" in table


def test_the_page_is_short_and_no_claim_is_lost() -> None:
    """Every claim has one row on one of the two pages."""
    documents = [document(name, "simulated", *ORDER) for name in "abc"]
    for one, kind in zip(documents, ("paper", "control", "own"), strict=True):
        for claim in one["claims"]:
            claim["kind"] = kind
    documents.append(document("d", "simulated", "held"))
    documents[-1]["claims"][0]["text"] = HEADLINE
    page, more = markdown(documents, ITEMS, "2026-11-24"), details(documents, "2026-11-24")
    assert f"| {HEADLINE} |" in page and f"| {HEADLINE} |" not in more
    for one in documents:
        for claim in one["claims"]:
            rows = [line for line in (page + more).splitlines() if f"| {claim['text']} " in line]
            assert len(rows) == 1, claim
            assert f"**{claim['verdict']}**" in rows[0]
            why = f"- {claim['text']}: **{claim['verdict']}**. So."
            assert (why in more) == (claim["verdict"] != "held")
            assert why not in page
    assert f"1 held, 1 partly held, 1 not held, 1 not judged ([one by one]({DETAILS}#" in page
    assert "| claim not held of a |" in page and "| claim partly held of a |" in more
    assert len(page.splitlines()) < 40


def test_links_between_the_pages_lead_to_headings() -> None:
    documents = [document("a", "simulated", "held"), document("b", "simulated", "held")]
    documents[0]["claims"][0]["kind"] = "own"
    more = details(documents, "2026-11-24")
    headings = {
        "".join(c for c in line.lstrip("# ").lower() if c.isalnum() or c in " -").replace(" ", "-")
        for line in more.splitlines()
        if line.startswith("#")
    }
    both = markdown(documents, ITEMS, "2026-11-24") + more
    targets = set(re.findall(r"(?:-details\.md|\]: )#([^)\s]+)", both))
    assert {"title-of-a", "title-of-b", "what-sibyl-says-of-itself"} <= targets <= headings
    # What has an address has one name for it, which stands in the page.
    for page in (markdown(documents, ITEMS, "2026-11-24"), more):
        for name in re.findall(r"^\[(\w+)\]: ", page, re.MULTILINE):
            assert page.count(f"[{name}]: ") == 1 and page.count(f"[{name}]") > 1


def test_what_knowing_is_worth_has_a_line_for_each_algorithm() -> None:
    one, two = document("a", "simulated", "held"), document("b", "measured on a cluster", "held")
    other = document("c", "simulated", "not held", "held", "not judged")
    for of, algorithm, metric, worth in (
        (one["claims"][0], "gather BSLS", "run", [1.0, 1.7]),
        (two["claims"][0], "gather BSLS", "absorbed", [2.81, 2.81]),
        (other["claims"][0], "gather BSLS", "run", [0.98, 1.2]),
        (other["claims"][1], "scatter BSLIN", "run", [1.0, 1.0]),
        (other["claims"][2], "scatter BSLIN", "elapsed", [0.7, 1.1]),
    ):
        of.update(kind="control", algorithm=algorithm, metric=metric, worth=worth)
    page = markdown([one, two, other], ITEMS, "2026-11-24")
    assert "## What the papers say" not in page
    _, _, after = page.partition("## What knowing who is late is worth")
    assert "concurrency and early receipt" in after
    assert "(reproduction-details.md#what-knowing-who-is-late-is-worth" in after
    assert "but for NAME@K, which has up to K" in details([one, two, other], "2026-11-24")
    rows = [line for line in after.splitlines() if line.startswith("| ")]
    assert rows == [
        "| algorithm | model | cluster |",
        # What is worth least stands first.
        "| scatter BSLIN | run 1.00; elapsed 0.70 to 1.10 (undecided) |  |",
        "| gather BSLS | run 0.98 to 1.70 | absorbed 2.81 |",
    ]
    assert "concurrency" not in markdown([document("a", "x", "held")], ITEMS, "2026-11-24")


def test_what_knowing_is_worth_in_the_model_says_how_near_that_is() -> None:
    documents = [
        document("a", "simulated", "held", "held", error="3 % (median), from 6 published numbers"),
        document("b", "simulated", "held"),
        document("c", "simulated", "not held"),
        document("d", "measured on a cluster", "held"),
        document("e", "recorded and replayed", "held"),
        document("f", "simulated", "held", error="9 % (median), from 8 published numbers"),
    ]
    for of in documents[:-1]:
        for claim in of["claims"]:
            claim.update(kind="control", algorithm="gather BSLS", metric="run", worth=[1.0, 1.2])
    documents[4]["claims"][0]["instrument"] = "model, not compared with times"
    page = markdown(documents, ITEMS, "2026-11-24")
    (said,) = (line for line in page.splitlines() if line.startswith("How near the model is"))
    assert said == (
        "How near the model is: [a] (off by 3 % (median)), other items (error unknown), [e] (not "
        "compared with times)."
    )
    only_measured = markdown(documents[3:4], ITEMS, "2026-11-24")
    assert "| gather BSLS |" in only_measured and "How near" not in only_measured


def test_a_claim_that_is_judged_otherwise_than_its_item_says_by_what() -> None:
    one = document("a", "measured on a cluster", "held")
    one["claims"][0]["instrument"] = "model and SMPI"
    assert "| model and SMPI: [a] | **held** |" in details([one], "2026-11-24")


def test_the_page_names_what_is_missing_and_what_is_old() -> None:
    one = document("exscan-table-1", "simulated", "held", date="2026-11-20")
    two = document("scatter-figure-16-cluster", "measured on a cluster", "held")
    older = {one["item"]: MADE_EARLIER, two["item"]: MEASURED_EARLIER}
    lines = markdown([one, two], ITEMS, "2026-11-24", older).splitlines()
    made, measured = (line for line in lines if "earlier version" in line)
    assert made.startswith("Made by an earlier version of these programs")
    assert made.endswith(": `exscan-table-1` (2026-11-20).")
    assert measured.startswith("Measured by an earlier version of these programs")
    assert measured.endswith("and judged as today: `scatter-figure-16-cluster`.")
    page = "\n".join(lines)
    assert "`scatter-figure-14`" in page.partition("Not run for this page: ")[2]
    assert "another machine" not in markdown([one], ITEMS, "2026-11-24")


def test_every_verdict_is_explained() -> None:
    page = markdown([], ITEMS, "2026-11-24")
    assert sorted(ORDER) == sorted(VERDICTS)
    for verdict in VERDICTS:
        assert f"- **{verdict}**: " in page
