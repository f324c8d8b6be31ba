"""The check of the floors catches what it is there to catch, and the tree passes it.

Runs with the standard library alone: python3 -m unittest discover -s tests/architecture.
"""

import tempfile
import unittest
from pathlib import Path

import check_floors


class CheckFloors(unittest.TestCase):
    """Each test writes a small tree and asks for its violations."""

    def violations(self, **files):
        """Check a tree of the given files: path with __ for / and ___ for a dot, text."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src").mkdir()
            for name, text in files.items():
                path = root / name.replace("___", ".").replace("__", "/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_floors.check(root)[0]

    def test_same_floor_and_below_are_allowed(self):
        found = self.violations(
            src__planners__a___cpp='#include "planners/b.hpp"\n#include "schedule/c.hpp"\n',
            src__executor__d___cpp='#include <mpi.h>\n#include "sibyl/schedule.hpp"\n',
        )
        self.assertEqual(found, [])

    def test_a_higher_floor_is_a_violation(self):
        found = self.violations(src__schedule__a___cpp='#include "planners/b.hpp"\n')
        self.assertEqual(len(found), 1)
        self.assertIn("src/schedule/a.cpp:1: floor F1 includes planners/b.hpp of floor F2", found)

    def test_a_relative_path_does_not_hide_a_higher_floor(self):
        found = self.violations(
            src__base__a___cpp='\n# include "../executor/b.hpp"\n', src__executor__b___hpp=""
        )
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/a.cpp:2", found[0])

    def test_mpi_below_the_line_is_a_violation(self):
        found = self.violations(
            src__selection__a___cpp="#include <mpi.h>\n",
            include__sibyl__planners___hpp="#include <mpi.h>\n",
            tests__base__a_test___cpp="#include <mpi.h>\n",
        )
        self.assertEqual(len(found), 3)

    def test_the_c_interface_counts_as_mpi(self):
        found = self.violations(
            src__planners__a___cpp='#include "sibyl/sibyl.h"\n',
            include__sibyl__planners___hpp='#include "sibyl/sibyl.h"\n',
        )
        self.assertEqual(len(found), 2)

    def test_the_simulator_never_sees_planners(self):
        found = self.violations(src__simulator__a___cpp='#include "planners/a.hpp"\n')
        self.assertEqual(len(found), 1)

    def test_an_unlisted_room_or_header_is_a_violation(self):
        found = self.violations(src__attic__a___cpp="", include__sibyl__new___hpp="")
        self.assertEqual(len(found), 2)

    def test_python_imports_from_its_room_or_below(self):
        found = self.violations(
            python__sibyl__cluster__a___py="from sibyl.mpi.run import b\nimport sibyl.cluster.c\n",
            python__sibyl__experiment__a___py="from sibyl import _core, errors\nimport os\n",
            python__sibyl__cli___py="from sibyl.commands import a\n",
        )
        self.assertEqual(found, [])

    def test_a_python_import_from_above_or_aside_is_a_violation(self):
        found = self.violations(
            python__sibyl__cluster__job___py="\nfrom sibyl.commands.run import b\n",
            python__sibyl__bench__a___py="def f():\n    from sibyl import guidelines\n",
            python__sibyl__mpi__a___py="import sibyl.experiment.grid\n",
            python__sibyl__errors___py="from sibyl.files import a\n",
            python__sibyl__mpi__b___py="from . import a\n",
        )
        self.assertEqual(len(found), 5, found)
        self.assertIn(
            "python/sibyl/cluster/job.py:2: cluster (P4) imports from commands (P8)", found
        )

    def test_tests_of_python_lie_in_its_rooms(self):
        found = self.violations(
            tests__python__mpi__test_a___py="",
            tests__python__test_b___py="",
            tests__python__programs__c___py="",
            tests__python__attic__test_d___py="",
        )
        self.assertEqual(len(found), 1, found)

    def test_an_unlisted_python_room_is_a_violation(self):
        found = self.violations(python__sibyl__attic__a___py="")
        self.assertEqual(len(found), 1)

    def test_this_tree_keeps_to_the_floors(self):
        violations, _, files = check_floors.check(Path(__file__).resolve().parents[2])
        self.assertEqual(violations, [])
        self.assertGreater(files, 0)


if __name__ == "__main__":
    unittest.main()
