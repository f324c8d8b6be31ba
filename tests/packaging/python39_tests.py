#!/usr/bin/env python3
"""What packaging/python39 makes of sources, without a Python 3.9: the wheel's tests have that.

Standard library only.
"""

import sys
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging" / "python39"))

import downgrade
import older

SOURCE = '''"""A module."""
import dataclasses
import itertools
from dataclasses import dataclass

Name = list[int] | str
FLAGS = 1 | 4

@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    first: int | None = None
    second: dict[str, int | float]

    def steps(self, size: "int" = 2, *more: int | str) -> list[int] | None:
        return None if isinstance(size, int | float) else size | 1

def rows(a, b):
    return list(zip(a, b, strict=True)), list(zip(a, b, strict=False)), list(itertools.pairwise(a))
'''


def executed(text):
    """The names of a downgraded module."""
    package = types.ModuleType("sibyl")
    package._older = older
    before = sys.modules.get("sibyl")
    sys.modules["sibyl"] = package
    try:
        names = {}
        exec(text, names)
        return types.SimpleNamespace(**names)
    finally:
        del sys.modules["sibyl"]
        if before is not None:
            sys.modules["sibyl"] = before


class Downgraded(unittest.TestCase):
    def setUp(self):
        self.text = downgrade.downgraded(SOURCE)
        self.module = executed(self.text)

    def test_no_union_of_types_is_left_and_numbers_are_as_they_were(self):
        self.assertNotIn("| None", self.text)
        self.assertNotIn("| float", self.text)
        self.assertNotIn("| str", self.text)
        self.assertEqual(self.module.FLAGS, 5)
        self.assertIn("size | 1", self.text)
        self.assertIsNone(self.module.Options(second={}).steps(1.5))

    def test_fields_are_given_by_keyword_in_any_order(self):
        made = self.module.Options(second={"a": 1})
        self.assertEqual((made.first, made.second), (None, {"a": 1}))
        for wrong in ({}, {"second": {}, "third": 3}):
            with self.assertRaises(TypeError):
                self.module.Options(**wrong)
        with self.assertRaises(AttributeError):
            made.first = 3

    def test_rows_of_unequal_lengths_are_refused_where_they_are_to_be(self):
        self.assertEqual(
            self.module.rows([1, 2], [3, 4]), ([(1, 3), (2, 4)], [(1, 3), (2, 4)], [(1, 2)])
        )
        with self.assertRaises(ValueError):
            self.module.rows([1, 2], [3])

    def test_the_module_says_what_it_said(self):
        self.assertEqual(self.module.__doc__, "A module.")


if __name__ == "__main__":
    unittest.main(verbosity=2)
