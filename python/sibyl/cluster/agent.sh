#!/bin/sh
# A launch agent for the hosts of a cluster, in the place of ssh:
#
#   agent.sh PREFIX [-OPTION...] ADDRESS COMMAND...
#
# Runs the command, as ssh would have a shell do, in the network namespace PREFIX-HOST, where the
# host's number follows from its address. The host also gets a name of its own, since MPI libraries
# tell by it which ranks share memory and where their session files lie.
set -f
prefix="$1"
shift
while [ "${1#-}" != "$1" ]; do shift; done
address="$1"
shift
low="${address##*.}"
rest="${address%.*}"
host="$prefix-$((${rest##*.} * 256 + low - 1))"
exec nsenter --net="/run/netns/$host" unshare --uts sh -c \
  'echo "$0" > /proc/sys/kernel/hostname && exec sh -c "$*"' "$host" "$@"
