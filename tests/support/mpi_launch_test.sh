#!/usr/bin/env bash
# The launcher of the MPI tests must not turn a failure or a hang into a success. mpiexec is played
# by a script that drops "-n N" and runs the program once.
#   mpi_launch_test.sh PATH_OF_MPI_LAUNCH
set -u
launch="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nexport FAKE_RANKS="$2"\nshift 2\n"$@"\n' > "$work/mpiexec"
chmod +x "$work/mpiexec"
failures=0
more=()

expect() {  # WHAT_MUST_HOLD STATUS TEXT RANKS TIMEOUT SHELL_COMMAND
  local output status
  output="$("$launch" --flavour mpich --mpiexec "$work/mpiexec" --timeout "$5" --ranks "$4" \
            "${more[@]}" -- /bin/sh -c "$6" 2>&1)"
  status=$?
  if [ "$status" -ne "$2" ] || [[ "$output" != *"$3"* ]]; then
    echo "FAILED: $1: status $status, wanted $2; wanted in the output: $3"
    echo "$output"
    failures=$((failures + 1))
  fi
}

unset SIBYL_TEST_RANKS SIBYL_TEST_LONG
expect "success at every count is success" 0 "3 rank(s)" 1,3 20 'true'
expect "a failure names its rank count" 7 "on 3 rank(s) with mpich: exit status 7" 1,3,4 20 \
       '[ "$FAKE_RANKS" != 3 ] || exit 7'
expect "a hang is ended and named" 124 "HANG" 2 1 'sleep 30; true'
expect "who prints goes on" 0 "still here" 2 2 \
       'for i in 1 2 3 4 5 6; do sleep 0.5; printf .; done; echo still here'
expect "what was printed last is told of a hang" 124 "no newline" 2 1 'printf "no %s" newline; sleep 30; true'
expect "who prints for ever is ended, too" 124 "no end after 10 s" 2 1 \
       'while :; do echo again; sleep 0.3; done'
more=(--long-timeout 1)
SIBYL_TEST_LONG=1 expect "long tests have a limit of their own" 124 "nothing printed for 1 s" 2 20 \
       'sleep 30; true'
expect "which does not hold for the others" 0 "2 rank(s)" 2 20 'sleep 2; true'
more=()
export SIBYL_TEST_RANKS=3
expect "SIBYL_TEST_RANKS leaves the other counts out" 0 "== sh, 3 rank(s)" 1,3 20 \
       '[ "$FAKE_RANKS" = 3 ]'
SIBYL_TEST_RANKS="openmpi:1 mpich:3" expect "counts for each MPI are told apart" 0 \
       "== sh, 3 rank(s)" 1,3 20 '[ "$FAKE_RANKS" = 3 ]'
SIBYL_TEST_RANKS="openmpi:1" expect "counts for another MPI leave none out" 0 \
       "== sh, 1 rank(s)" 1,3 20 'true'
expect "a program that has none of the counts runs on the nearest" 0 "== sh, 2 rank(s)" 1,2,8 20 \
       '[ "$FAKE_RANKS" = 2 ]'
SIBYL_TEST_RANKS=2,7 expect "whichever it is near to" 0 "== sh, 8 rank(s)" 4,8 20 '[ "$FAKE_RANKS" = 8 ]'
[ "$failures" -eq 0 ]
