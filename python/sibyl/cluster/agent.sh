#!/bin/sh
# A launch agent for the hosts of a cluster, in the place of ssh:
#
#   agent.sh PREFIX [-OPTION...] ADDRESS COMMAND...
#
# Runs the command, as ssh would have a shell do, in the network namespace PREFIX-HOST, where the
# host's number follows from its address. The host also gets a name of its own, since MPI libraries
# tell by it which ranks share memory and where their session files lie.
#
# What runs there is the user's program: it keeps of root's rights what files and processes need, and
# loses what could change networks, namespaces, the clock, devices or the kernel. It keeps ptrace,
# by which ranks of a host copy from each other's memory: this is against mistakes, not against a
# program that means harm, which can reach root's other processes. A process without CAP_SETPCAP may
# not take rights away: it has few itself, and they stay.
set -f
prefix="$1"
shift
while [ "${1#-}" != "$1" ]; do shift; done
address="$1"
shift
refuse() { echo "sibyl cluster: $1" >&2; exit 2; }
case "$prefix" in
  *[!a-z0-9-]* | '') refuse "a cluster has no such name" ;;
  sibyl-*) ;;
  *) refuse "not a namespace of a cluster" ;;
esac
case "$address" in
  10.*.*.*) case "$address" in *[!0-9.]*) refuse "a host has no such address" ;; esac ;;
  *) refuse "a host has no such address" ;;
esac
low="${address##*.}"
rest="${address%.*}"
host="$prefix-$((${rest##*.} * 256 + low - 1))"
bound=-sys_admin,-net_admin,-net_raw,-sys_module,-sys_rawio,-sys_boot,-sys_time,-sys_chroot
bound="$bound,-sys_pacct,-sys_tty_config,-mknod,-setfcap,-setpcap,-syslog,-mac_admin,-mac_override"
bound="$bound,-audit_control,-audit_write,-wake_alarm,-linux_immutable"
for newer in bpf perfmon checkpoint_restore; do  # not known to every util-linux
  setpriv --bounding-set="-$newer" true 2> /dev/null && bound="$bound,-$newer"
done
limits="--bounding-set=$bound --inh-caps=-all --no-new-privs"
# shellcheck disable=SC2086
if ! setpriv $limits true 2> /dev/null; then
  while read -r name value; do [ "$name" = CapEff: ] && rights="$value"; done < /proc/self/status
  [ $((0x${rights:-100} >> 8 & 1)) -eq 0 ] ||
    refuse "setpriv does not take root's rights from what runs on a host: apt install util-linux"
  limits=
fi
exec nsenter --net="/run/netns/$host" unshare --uts sh -c \
  'echo "$0" > /proc/sys/kernel/hostname || exit; limits="$1"; shift
   exec ${limits:+setpriv $limits} sh -c "$*"' "$host" "$limits" "$@"
