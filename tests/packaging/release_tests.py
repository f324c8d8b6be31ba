#!/usr/bin/env python3
"""scripts/release in a small repository of its own: what it refuses, what it writes, the tag.

Standard library and git only.
"""

import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "scripts/release",
    "CMakeLists.txt",
    "include/sibyl/version.h",
    "CITATION.cff",
    "packaging/debian/changelog",
    "cmake/libsibyl.map",
    *(f"packaging/recipes/{p.name}" for p in (ROOT / "packaging" / "recipes").iterdir()),
)
loader = importlib.machinery.SourceFileLoader("release", str(ROOT / "scripts" / "release"))
release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
sys.dont_write_bytecode = True
loader.exec_module(release)
CHANGELOG = """# Changelog

## [Unreleased]

### Added

- A thing.

## [0.9.0] - 2020-01-01

- Old.
"""


class Checkout(unittest.TestCase):
    """This checkout as it is."""

    def test_its_versions_agree(self):
        versions = set(release.written_versions().values())
        self.assertEqual(versions, {release.the_version()})

    def test_packages_of_other_systems_set_only_options_that_there_are(self):
        places = [*(ROOT / "packaging" / "recipes").iterdir(), ROOT / "packaging/debian/rules"]
        places += [ROOT / "scripts" / "wheel", ROOT / "pyproject.toml"]
        cmake = [ROOT / "CMakeLists.txt", ROOT / "python" / "CMakeLists.txt"]
        cmake += (ROOT / "cmake").glob("*.cmake")
        text = "\n".join(path.read_text() for path in cmake)
        options = set(re.findall(r"^\s*(?:option|set)\(\s*(SIBYL_\w+)", text, re.MULTILINE))
        seen = set()
        for place in places:
            named = r"(?:-D|define\.|define\(\"|define_from_variant\(\"|^)(SIBYL_\w+)"
            used = set(re.findall(named, place.read_text(), re.MULTILINE))
            self.assertEqual(used - options, set(), place.name)
            seen |= used
        # Else the pattern above finds nothing any more.
        self.assertLessEqual({"SIBYL_MPICC", "SIBYL_BUILD_PROGRAMS", "SIBYL_LIBRARIES"}, seen)


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        self.write("CHANGELOG.md", CHANGELOG)
        self.write(".gitignore", "dist/\n")
        self.git("init", "--quiet")
        self.commit()

    def read(self, name):
        return (self.root / name).read_text()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def git(self, *words):
        identity = {
            f"GIT_{who}_{what}": "nobody@localhost"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return subprocess.run(
            ["git", *words],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **identity},
        ).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "As it is", "--allow-empty")

    def release(self, *words):
        self.git("config", "user.name", "nobody")
        self.git("config", "user.email", "nobody@localhost")
        return subprocess.run(
            [sys.executable, self.root / "scripts" / "release", *words],
            capture_output=True,
            text=True,
            check=False,
        )

    def succeed(self, *words):
        done = self.release(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refuse(self, reason, *words):
        done = self.release(*words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(reason, done.stderr)
        self.assertEqual(self.git("tag"), "")

    def prepare(self, version):
        self.succeed("prepare", version, "--date", "2030-02-03")
        self.commit()

    def test_the_version_is_written_everywhere(self):
        self.prepare("7.8.9")
        for name in ("CMakeLists.txt", "include/sibyl/version.h", "CITATION.cff"):
            self.assertIn("7.8.9", self.read(name))
        numbers = re.findall(r"(?:MAJOR|MINOR|PATCH) (\d)", self.read("include/sibyl/version.h"))
        self.assertEqual(numbers, ["7", "8", "9"])
        self.assertIn("date-released: 2030-02-03", self.read("CITATION.cff"))
        debian = self.read("packaging/debian/changelog")
        self.assertTrue(debian.startswith("sibyl-mpi (7.8.9-1)"), debian)
        self.assertIn("Sun, 03 Feb 2030", debian)
        changelog = self.read("CHANGELOG.md")
        self.assertIn(
            "## [Unreleased]\n\n## [7.8.9] - 2030-02-03\n\n### Added\n\n- A thing.", changelog
        )

    def test_debians_changelog_keeps_the_entries_of_earlier_releases(self):
        self.prepare("7.8.9")
        first = self.read("packaging/debian/changelog")
        self.assertEqual(first.count("\n -- "), 1)  # the one that was there was never released
        changelog = self.read("CHANGELOG.md")
        self.write("CHANGELOG.md", changelog.replace("ed]\n", "ed]\n\n- Another thing.\n", 1))
        self.succeed("prepare", "7.9.0", "--date", "2031-03-04")
        second = self.read("packaging/debian/changelog")
        self.assertTrue(second.startswith("sibyl-mpi (7.9.0-1) unstable"), second)
        self.assertTrue(second.endswith("\n\n" + first), second)
        self.assertEqual(second.count("First release"), 1)
        self.assertIn("Tue, 04 Mar 2031", second)

    def test_a_dry_run_writes_all_but_the_tag(self):
        self.prepare("7.8.9")
        said = self.succeed(
            "make", "--dry-run", "--only", "sources", "--url", "https://host.test/s"
        )
        self.assertIn("the tag v7.8.9 would be made", said)
        self.assertEqual(self.git("tag"), "")
        sources = self.root / "dist" / "sibyl-7.8.9.tar.gz"
        digest = hashlib.sha256(sources.read_bytes()).hexdigest()
        with tarfile.open(sources) as archive:
            self.assertIn("sibyl-7.8.9/CMakeLists.txt", archive.getnames())
        self.assertIn(f"{digest}  sibyl-7.8.9.tar.gz", self.read("dist/SHA256SUMS").splitlines())
        self.names_with_their_sums()
        recipes = [p for p in (self.root / "dist" / "recipes").rglob("*") if p.is_file()]
        self.assertEqual(len(recipes), 5)
        for recipe in recipes:
            text = recipe.read_text()
            self.assertNotRegex(text, "@[A-Z0-9]+@")
            if recipe.name not in ("variants.yaml", "repo.yaml"):
                self.assertIn(digest, text)
                self.assertIn("https://host.test/s", text)
        self.assertEqual(self.git("status", "--porcelain"), "")

    def names_with_their_sums(self):
        """The names in SHA256SUMS: of files in dist/ whose sums they have."""
        names = set()
        for line in self.read("dist/SHA256SUMS").splitlines():
            wanted, name = line.split("  ")
            found = hashlib.sha256((self.root / "dist" / name).read_bytes()).hexdigest()
            self.assertEqual(found, wanted)
            names.add(name)
        return names

    def test_wheels_of_both_machines_and_debian_packages_are_part_of_it(self):
        self.prepare("7.8.9")
        made = {
            "docs": "",
            "wheel": 'name="dist/x-${2:-x86_64}.whl"',
            "debian-package": 'name="build/x.deb"; mkdir -p build',
        }
        for script, name in made.items():
            file = self.root / "scripts" / script
            write = 'echo content > "$name"; echo "$PWD/$name"' if name else ""
            file.write_text(f"#!/bin/sh\n{name}\n{write}\n")
            file.chmod(0o755)
        compiler = self.root / "tools" / "aarch64-linux-gnu-g++"
        compiler.parent.mkdir()
        compiler.write_text("#!/bin/sh\n")
        compiler.chmod(0o755)
        self.write(".gitignore", "dist/\nbuild/\n")
        self.commit()
        with mock.patch.dict(os.environ, PATH=f"{compiler.parent}:{os.environ['PATH']}"):
            self.succeed("make", "--dry-run")
        names = self.names_with_their_sums()
        here = {"x-x86_64.whl", "x.deb"}
        elsewhere = set() if platform.machine() == "aarch64" else {"x-aarch64.whl"}
        self.assertLessEqual(here | elsewhere, names)

    def test_the_sources_are_the_same_bytes_each_time(self):
        self.prepare("7.8.9")
        self.succeed("make", "--dry-run", "--only", "sources")
        before = (self.root / "dist" / "sibyl-7.8.9.tar.gz").read_bytes()
        self.succeed("make", "--dry-run", "--only", "sources")
        self.assertEqual((self.root / "dist" / "sibyl-7.8.9.tar.gz").read_bytes(), before)

    def test_the_tag_carries_the_section_of_the_changelog(self):
        self.prepare("7.8.9")
        self.succeed("make", "--only", "sources")
        message = self.git("tag", "--list", "--format=%(contents)", "v7.8.9")
        self.assertIn("Sibyl 7.8.9\n\n### Added\n\n- A thing.\n", message)
        self.assertNotIn("Old", message)
        done = self.release("make", "--only", "sources")
        self.assertIn("the tag v7.8.9 is there already", done.stderr)

    def test_it_refuses_a_version_without_a_section(self):
        self.refuse("CHANGELOG.md has no section", "make", "--only", "sources")

    def test_it_refuses_versions_that_differ(self):
        self.prepare("7.8.9")
        text = self.read("CITATION.cff").replace("7.8.9", "7.8.8")
        self.write("CITATION.cff", text)
        self.commit()
        self.refuse("versions differ", "make", "--only", "sources")

    def test_it_refuses_what_is_not_committed(self):
        self.prepare("7.8.9")
        self.write("CHANGELOG.md", self.read("CHANGELOG.md") + "\n")
        self.refuse("not committed", "make", "--only", "sources")

    def test_it_refuses_an_empty_changelog_and_a_version_that_is_none(self):
        self.refuse("is no version", "prepare", "1.2")
        self.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [0.9.0] - 2020-01-01\n")
        self.refuse("nothing under [Unreleased]", "prepare", "7.8.9")

    def test_a_function_may_leave_only_with_another_major_version(self):
        self.prepare("7.8.9")
        self.succeed("make", "--only", "sources")
        text = self.read("cmake/libsibyl.map")
        self.assertIn("    SIBYL_Exscan;\n", text)
        self.write("cmake/libsibyl.map", text.replace("    SIBYL_Exscan;\n", ""))
        changelog = self.read("CHANGELOG.md").replace(
            "[Unreleased]\n", "[Unreleased]\n\n- Less.\n", 1
        )
        self.write("CHANGELOG.md", changelog)
        self.prepare("7.9.0")
        done = self.release("make", "--only", "sources")
        self.assertIn("lacks what v7.8.9 has: SIBYL_Exscan@SIBYL_1.0", done.stderr)
        changelog = self.read("CHANGELOG.md").replace(
            "[Unreleased]\n", "[Unreleased]\n\n- Less.\n", 1
        )
        self.write("CHANGELOG.md", changelog)
        self.prepare("8.0.0")
        self.succeed("make", "--only", "sources")


if __name__ == "__main__":
    unittest.main(verbosity=2)
