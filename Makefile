# Two commands to begin with: `make demo` and `make test`. Each does all set-up that it needs.
.PHONY: build demo test test-all test-long test-applications test-packages test-mpis lint \
        format docs install wheel debian clean help
PREFIX ?= /usr/local

build:  ## build the library, the preload and the sibyl command (build/release, .venv/bin/sibyl)
	@scripts/build

demo:  ## build, and run unmodified programs under Sibyl
	@scripts/demo

test:  ## build and run the tests, the MPI ones on a few rank counts, and the linters
	@scripts/test

test-all:  ## with all suites, more rank counts, sanitizers, the newest MPIs, mpi4py's own tests: what CI runs
	@scripts/test all

test-long:  ## all that on all rank counts, with the long versions of the tests, soaks and fuzzing
	@SIBYL_TEST_LONG=1 scripts/test all

test-applications:  ## LAMMPS, HPCC, PT-Scotch, MUMPS, NWChem and others natively and under the preload
	@scripts/test applications

test-mpis:  ## programs under the preload with every MPI: Debian's, PyPI's, Intel's, over UCX and libfabric
	@scripts/test mpis

test-packages:  ## wheels under five MPIs, Debian packages, recipes of other systems, container: built and tried
	@scripts/test packages

wheel:  ## wheels that need neither a compiler nor an MPI where they are installed (dist)
	@scripts/wheel

debian:  ## Debian packages (build/debian)
	@scripts/debian-package

lint:  ## check formatting and run the linters
	@scripts/lint

format:  ## format all sources
	@scripts/lint --fix

docs:  ## build the documentation site and the man pages, and run the examples on its pages
	@scripts/docs --check

# What is built is not built again: as root that would be with other settings, and leave files of root's.
install:  ## install what `make` has built last to PREFIX (/usr/local)
	@[ -e build/release/.built ] || scripts/build
	cmake --install build/release --prefix "$(PREFIX)"

clean:  ## remove what was built; .venv stays
	rm -rf build

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
