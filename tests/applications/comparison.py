"""Holds a program's output against two native runs of it: what those agree on must be the same.

Texts are compared line by line, lines number by number. A number that the native runs give alike
must be the same in the third; of one that they give differently, as times and rounded sums, the
third has to agree to as many digits as the native runs agree with each other, and where that is
less than two, it may be anything. Lines that only one native run has are not looked for. Two times
can be alike by chance, so programs that print them say in which lines (programs.py).
"""

import difflib
import math
import re
from collections import Counter

NUMBER = re.compile(
    r"(?<![A-Za-z_\d.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?(?![A-Za-z_\d])"
    r"|(?<![A-Za-z_])[-+]?(?:nan|inf)(?![A-Za-z_])",
    re.IGNORECASE,
)
ALL_DIGITS = 99


def skeleton(line):
    """A line without its numbers and the width of its gaps."""
    return " ".join(NUMBER.sub("#", line).split())


def value(word):
    return float(word.lower().replace("d", "e"))


def agreed_digits(one, other):
    """To how many significant digits two numbers agree."""
    a, b = value(one), value(other)
    if a == b or (math.isnan(a) and math.isnan(b)):
        return ALL_DIGITS
    if not (math.isfinite(a) and math.isfinite(b)):
        return 0
    return max(0, math.floor(-math.log10(abs(a - b) / max(abs(a), abs(b)))))


def lines_of(text, only, apart):
    """The lines that are compared."""
    lines = (line.rstrip() for line in text.splitlines())
    lines = (line for line in lines if line and re.search(only, line))
    return [line for line in lines if not (apart and re.search(apart, line))]


def aligned(one, other):
    """Pairs of lines with the same skeleton, in order."""
    left, right = [skeleton(line) for line in one], [skeleton(line) for line in other]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for block in matcher.get_matching_blocks():
        yield from zip(
            range(block.a, block.a + block.size), range(block.b, block.b + block.size), strict=True
        )


def differences(natives, text, only="", apart=None, digits=ALL_DIGITS):
    """What `text` has otherwise than the two native outputs agree on, one line each.

    Lines are compared that match `only` and not `apart`; no number is held to more than `digits`
    digits.
    """
    first, second, third = (lines_of(each, only, apart) for each in (*natives, text))
    agreed = {}  # by line of the first: to how many digits each number
    for i, j in aligned(first, second):
        pairs = zip(NUMBER.findall(first[i]), NUMBER.findall(second[j]), strict=True)
        agreed[i] = [agreed_digits(a, b) for a, b in pairs]
    found, seen = [], set()
    for i, j in aligned(first, third):
        seen.add(j)
        if i not in agreed:
            continue
        ours = NUMBER.findall(third[j])
        for wanted, a, b in zip(agreed.pop(i), NUMBER.findall(first[i]), ours, strict=True):
            if wanted >= 2 and agreed_digits(a, b) < min(wanted, digits):
                found.append(f"{b} instead of {a} in: {third[j]}")
    found += [f"missing: {first[i]}" for i in agreed]
    # A line more is one that no native run has where they differ.
    known = Counter(map(skeleton, first)) | Counter(map(skeleton, second))
    known -= Counter(skeleton(third[j]) for j in seen)
    for j, line in enumerate(third):
        if j not in seen:
            if known[skeleton(line)] <= 0:
                found.append(f"not natively: {line}")
            known[skeleton(line)] -= 1
    return found


def new_messages(natives, text):
    """Lines of standard error that no native run prints, whatever numbers they name."""
    known = {skeleton(line) for each in natives for line in each.splitlines()}
    return [line for line in text.splitlines() if skeleton(line) not in known]
