# Two commands to begin with: `make demo` and `make test`. Each does all set-up that it needs.
.PHONY: build demo test test-all test-long test-applications lint format install clean help
PREFIX ?= /usr/local

build:  ## build the library, the preload and the sibyl command (build/release, .venv/bin/sibyl)
	@scripts/build

demo:  ## build, and run unmodified programs under Sibyl
	@scripts/demo

test:  ## build and run the tests, the MPI ones on a few rank counts, and the linters
	@scripts/test

test-all:  ## the same on all rank counts, with sanitizers and mpi4py's own tests
	@scripts/test all

test-long:  ## all that, with the long versions of the tests
	@SIBYL_TEST_LONG=1 scripts/test all

test-applications:  ## LAMMPS, HPCC, PT-Scotch, MUMPS, NWChem and others natively and under the preload
	@scripts/test applications

lint:  ## check formatting and run the linters
	@scripts/lint

format:  ## format all sources
	@scripts/lint --fix

install: build  ## install to PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

clean:  ## remove what was built; .venv stays
	rm -rf build

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
