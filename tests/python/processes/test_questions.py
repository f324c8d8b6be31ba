"""Programs that are asked for something."""

import sys

import pytest

from sibyl.processes.questions import answer_of


def test_an_answer_has_what_was_printed() -> None:
    answer = answer_of([sys.executable, "-c", "print('yes'); raise SystemExit(3)"])
    assert answer is not None
    assert (answer.stdout, answer.returncode) == ("yes\n", 3)


def test_who_is_not_there_or_does_not_end_gives_none() -> None:
    assert answer_of(["/no/such/program"]) is None
    assert answer_of([sys.executable, "-c", "import time; time.sleep(60)"], 0.2) is None


def test_the_preload_is_kept_from_a_program_that_is_to_run_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libc.so.6")
    ask = [sys.executable, "-c", "import os; print(os.environ.get('LD_PRELOAD'))"]
    answers = [answer_of(ask), answer_of(ask, preloaded=False)]
    assert [answer.stdout.strip() for answer in answers if answer] == ["libc.so.6", "None"]
