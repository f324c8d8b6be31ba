#!/usr/bin/env python3
"""The recipes of other systems, as scripts/release writes them for a release of the last commit.

EasyBuild checks its recipe, finds all that it depends on, and builds Sibyl from the release's
sources with the system's compiler and MPI. rattler-build renders conda-forge's for every MPI.
Spack's is audited where there is a spack; else it is only compiled. The tools come from PyPI into
an environment of their own (build/recipes). Standard library only; needs the network.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from commands import run

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"sibyl VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
RENDER = """
import json, sys
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
one = "linux-64"
platform = PlatformConfig(target_platform=one, build_platform=one, host_platform=one)
recipe = Stage0Recipe.from_file(sys.argv[1])
found = recipe.render(VariantConfig.from_file(sys.argv[2]), RenderConfig(platform=platform))
print(json.dumps([each.recipe.to_dict() for each in found], default=str))
"""
# Builds what it renders, with the compiler and the MPI of this system: the channel is empty.
BUILD = """
import sys
from rattler_build import EnvironmentIsolation, Stage0Recipe, ToolConfiguration, VariantConfig
recipe, variants, channel, output = sys.argv[1:]
results = Stage0Recipe.from_file(recipe).run_build(
    VariantConfig.from_file(variants), ToolConfiguration(test_strategy="native"), output,
    [channel], env_isolation=EnvironmentIsolation.NONE)
for result in results:
    print(*result.packages, sep="\\n")
"""


def tools():
    """The bin of an environment with what reads the recipes."""
    place = ROOT / "build" / "recipes"
    wanted = ROOT / "packaging" / "requirements-recipes.txt"
    stamp = place / ".complete"
    if not stamp.exists() or stamp.stat().st_mtime < wanted.stat().st_mtime:
        run(sys.executable, "-m", "venv", "--clear", place)
        pip = [place / "bin" / "python", "-m", "pip", "--quiet", "install"]
        run(*pip, "--require-hashes", "-r", wanted, limit=900)
        stamp.touch()
    return place / "bin"


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="sibyl-recipes-"))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        clone = cls.work / "clone"
        run("git", "clone", "--quiet", ROOT, clone)
        for name in ("name", "email"):
            run("git", "config", f"user.{name}", "nobody@localhost", cwd=clone)
        section = f"## [{VERSION}]"
        if section not in (clone / "CHANGELOG.md").read_text():
            run(clone / "scripts" / "release", "prepare", VERSION)
            run("git", "commit", "--quiet", "--all", "--message", "Prepare", cwd=clone)
        run(clone / "scripts" / "release", "make", "--dry-run", "--only", "sources")
        cls.dist = clone / "dist"
        cls.recipes = cls.dist / "recipes"

    def test_conda_forges_recipe_renders_for_each_mpi(self):
        conda = self.recipes / "conda"
        said = run(tools() / "python", "-c", RENDER, conda / "recipe.yaml", conda / "variants.yaml")
        found = json.loads(said.splitlines()[-1])
        libraries = [r for r in found if r["package"]["name"] == "libsibyl-mpi"]
        hosts = [set(r["requirements"]["host"]) & {"openmpi", "mpich"} for r in libraries]
        self.assertEqual(sorted(map(sorted, hosts)), [["mpich"], ["openmpi"]])
        commands = [r for r in found if r["package"]["name"] == "sibyl-mpi"]
        self.assertGreater(len(commands), 0)
        needed = commands[0]["requirements"]["run"]
        self.assertIn(f"libsibyl-mpi =={VERSION}", needed)
        project = (ROOT / "pyproject.toml").read_text()
        named = re.search(r"^dependencies = \[(.*)\]$", project, flags=re.M)[1]
        wanted = {each.replace(">=", " >=") for each in re.findall(r'"([^"]+)"', named)}
        self.assertLessEqual(wanted, set(needed))
        for recipe in found:
            self.assertEqual(recipe["package"]["version"], VERSION)
            digest = recipe["source"][0]["sha256"]
            self.assertIn(digest, (self.dist / "SHA256SUMS").read_text())

    def test_rattler_build_builds_the_libraries_with_the_systems_compiler_and_mpi(self):
        """The recipe's own script and tests; what conda-forge's packages bring is this system's."""
        if shutil.which("mpicc") is None:
            self.skipTest("no MPI is installed")
        text = (self.recipes / "conda" / "recipe.yaml").read_text()
        text = re.sub(
            r"\n  - package:\n      name: \$\{\{ name \}\}\n.*?\nabout:",
            "\nabout:",
            text,
            flags=re.S,
        )
        text = re.sub(r"\n    requirements:.*?\n    tests:", "\n    tests:", text, flags=re.S)
        self.assertEqual(text.count("- package:"), 1)
        # What conda-forge's compiler packages set.
        arguments = "-DCMAKE_INSTALL_PREFIX=$PREFIX -DCMAKE_INSTALL_LIBDIR=lib"
        text = text.replace('CC="$CC"', "CC=cc", 1).replace('CC="$CC"', "CC=cc", 1)
        text = text.replace(
            "      script:\n", f'      script:\n        - export CMAKE_ARGS="{arguments}"\n', 1
        )
        place = self.work / "conda"
        (place / "channel" / "noarch").mkdir(parents=True)
        (place / "channel" / "noarch" / "repodata.json").write_text('{"packages": {}}')
        (place / "recipe.yaml").write_text(text)
        (place / "variants.yaml").write_text("mpi: [openmpi]\n")
        where = [place / name for name in ("recipe.yaml", "variants.yaml", "channel", "output")]
        said = run(tools() / "python", "-c", BUILD, *where, limit=1800)
        package = Path(said.splitlines()[-1])
        self.assertTrue(package.is_file(), said[-3000:])
        self.assertRegex(package.name, rf"^libsibyl-mpi-{re.escape(VERSION)}-mpi_openmpi_h")

    def test_conda_smithy_finds_nothing_but_that_nobody_maintains_it_yet(self):
        if shutil.which("conda-smithy") is None:
            self.skipTest("no conda-smithy is here, and PyPI has none")
        place = self.work / "feedstock" / "recipe"
        place.mkdir(parents=True)
        shutil.copy(self.recipes / "conda" / "recipe.yaml", place)
        (place.parent / "conda-forge.yml").write_text("conda_build_tool: rattler-build\n")
        done = subprocess.run(
            ["conda-smithy", "recipe-lint", place],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        found = [line for line in done.stdout.splitlines() if line.strip().startswith("- ")]
        self.assertTrue(found, done.stdout)
        self.assertTrue(all("maintainers" in line for line in found), done.stdout)

    def easybuild(self, *words, limit=300):
        """EasyBuild with the modules tool that is here; into a directory of this test."""
        modulecmd = next(iter(sorted(Path("/usr/lib").glob("*/modulecmd.tcl"))), None)
        settings = {}
        if modulecmd is not None:
            home = self.work / "modules" / "libexec"
            home.mkdir(parents=True, exist_ok=True)
            link = home / "modulecmd.tcl"
            if not link.is_symlink():
                link.symlink_to(modulecmd)
            settings = {
                "MODULESHOME": str(home.parent),
                "EASYBUILD_MODULES_TOOL": "EnvironmentModules",
                "EASYBUILD_MODULE_SYNTAX": "Tcl",
            }
        elif not Path("/usr/share/lmod").exists():
            self.skipTest("neither Environment Modules nor Lmod is installed")
        if os.geteuid() == 0:
            settings["EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES"] = "1"
        settings["EASYBUILD_ALLOW_MODULES_TOOL_MISMATCH"] = "1"
        settings["EASYBUILD_PREFIX"] = str(self.work / "easybuild")
        path = f"{tools()}:{os.environ['PATH']}"
        return run(tools() / "eb", *words, limit=limit, PATH=path, **settings)

    def easyconfig(self):
        [recipe] = (self.recipes / "easybuild").iterdir()
        return recipe

    def test_easybuild_accepts_its_recipe_and_finds_what_it_depends_on(self):
        said = self.easybuild("--check-contrib", self.easyconfig())
        self.assertIn("All style checks PASSed", said)
        said = self.easybuild("--dry-run", "--robot", self.easyconfig())
        for module in (f"Sibyl/{VERSION}-gompi-2025a", "gompi/2025a", "Boost/", "CMake/"):
            self.assertIn(f"module: {module}", said)

    def test_easybuild_builds_sibyl_with_the_systems_compiler_and_mpi(self):
        text = self.easyconfig().read_text()
        text = re.sub(r"toolchain = .*", "toolchain = SYSTEM", text)
        text = re.sub(r"toolchainopts = .*\n", "", text)
        text = re.sub(r"builddependencies = \[.*?\n\]", "builddependencies = []", text, flags=re.S)
        recipe = self.work / f"Sibyl-{VERSION}.eb"
        recipe.write_text(text)
        self.easybuild(recipe, limit=1800)
        place = self.work / "easybuild"
        module = (place / "modules" / "all" / "Sibyl" / VERSION).read_text()
        self.assertIn("SIBYL_LIBRARY_DIR", module)
        library = place / "software" / "Sibyl" / VERSION / "lib" / "libsibyl-preload.so"
        self.assertTrue(library.is_file())

    def test_spack_accepts_its_recipe(self):
        repository = self.recipes / "spack_repo" / "sibyl"
        recipe = repository / "packages" / "sibyl_mpi" / "package.py"
        compile(recipe.read_text(), str(recipe), "exec")
        if shutil.which("spack") is None:
            self.skipTest("it is Python; no spack is here that would read more of it")
        scope = self.work / "spack"
        scope.mkdir()
        (scope / "repos.yaml").write_text(f"repos:\n  sibyl: {repository}\n")
        run("spack", "--config-scope", scope, "audit", "packages", "sibyl-mpi")
        run("spack", "--config-scope", scope, "spec", "sibyl-mpi", limit=1200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
