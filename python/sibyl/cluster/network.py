"""Make, reshape and remove the namespaces, links and queues of a cluster.

Each host has one link, a veth pair to the bridge in the switch's namespace, with a token bucket at
both ends. What decides whether measured times are those of the wire:

- *The bucket* is as small as the kernel can serve in time, since what it holds passes at once: a
  bucket of 64 kB would hand out 5 % of a gather of 1 MiB for nothing.
- *What TCP sends in one piece* (segmentation offload) fits into the bucket. TCP's own 64 KiB take
  52 ms at 10 Mbit/s, and all that a host answers waits so long behind a piece of its own: a shift
  of 256 KiB took 1.55 times the wire's time. And the bucket cuts larger pieces into packets, each
  of which costs the processors as much as a piece: 48 hosts carried 1.5 Gbit/s together, not 11.
- *The queue* behind it holds a second's worth, so that nothing is dropped when all hosts send to
  one; with a tenth of a second a shift at 10 Mbit/s lost thousands of segments. A cluster that is
  asked for a queue has that much in front of each host's link, at the switch, and loses the rest,
  as switches do; what TCP sends in one piece is a small part of it there.
- *TCP Reno*: a namespace inherits the machine's congestion control. BBR takes waiting for a
  processor for a slow wire, and the shift took 1.5 times as long as with Reno. Without loss Reno
  and CUBIC hardly differ, and only Reno is allowed everywhere.
- *Neighbours are permanent entries*: no ARP traffic, and the kernel does not count them against
  net.ipv4.neigh.default.gc_thresh*, which is the machine's and which learned entries of 48 hosts
  would exceed.
"""

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sibyl.cluster.processes import end_processes
from sibyl.cluster.state import NETNS, Cluster, Damaged, forget
from sibyl.errors import CommandError
from sibyl.processes.guardian import held_open

MTU = 1500
LEAST_BUCKET = 8 * 1024
BUCKET_SECONDS = 1.5e-3
QUEUE_SECONDS = 1.0
PIECES_IN_QUEUE = 16  # of a queue that was asked for, at least
PIECE_SHARE = 0.9  # of the bucket; headers take the rest
MOST_PIECE = 65536

_CAP_NET_ADMIN, _CAP_SYS_ADMIN = 12, 21
_TOOLS = {
    **dict.fromkeys(("ip", "tc"), "iproute2"),
    **dict.fromkeys(("nsenter", "unshare", "setpriv"), "util-linux"),
}
_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not in every user's PATH

# Run by a shell in each namespace.
_SETTINGS = """
echo reno > /proc/sys/net/ipv4/tcp_congestion_control
echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle
"""


def tool(name: str) -> str:
    """The path of one of the programs that make the cluster."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_SBIN])
    found = shutil.which(name, path=path)
    if found is None:
        raise CommandError(
            f"sibyl cluster needs the program {name}; install {_TOOLS[name]}, as with: apt install "
            f"{_TOOLS[name]}"
        )
    return found


def check_possible() -> None:
    """Raise CommandError, saying why, where this process cannot make a cluster."""
    if platform.system() != "Linux":
        raise CommandError(
            f"sibyl cluster needs Linux (network namespaces); this is {platform.system()}"
        )
    for name in _TOOLS:
        tool(name)
    capabilities = 0
    for line in Path("/proc/self/status").read_text(errors="replace").splitlines():
        if line.startswith("CapEff:"):
            capabilities = int(line.split()[1], 16)
    wanted = {"CAP_NET_ADMIN": _CAP_NET_ADMIN, "CAP_SYS_ADMIN": _CAP_SYS_ADMIN}
    lacking = [name for name, bit in wanted.items() if not capabilities >> bit & 1]
    if lacking:
        who = "root lacks" if os.geteuid() == 0 else "you lack"
        raise CommandError(
            f"sibyl cluster needs the rights of root to make network namespaces; {who} "
            f"{' and '.join(lacking)}; "
            + ("start the container with --privileged" if os.geteuid() == 0 else "use sudo")
        )


def check_free(cluster: Cluster) -> None:
    """Raise CommandError where namespaces of its names exist: somebody else has made them."""
    there = [name for name in cluster.namespaces if (NETNS / name).exists()]
    if there:
        raise CommandError(
            f"the network namespace {there[0]} exists and is of no cluster that is known here; "
            f"remove it (ip netns delete {there[0]}), or choose another name"
        )


def build(cluster: Cluster) -> None:
    """Make all parts of a cluster of which nothing exists.

    Raises:
        CommandError: the kernel refuses something; what was made so far is still there.
    """
    _ip([f"netns add {name}" for name in cluster.namespaces])
    lines = [
        "link set lo up",
        "link add bridge type bridge mcast_snooping 0",
        "link set bridge addrgenmode none up",
        f"address add {cluster.switch_address}/16 dev bridge",
    ]
    for host, name in enumerate(cluster.host_names):
        lines += [
            f"link add port{host} mtu {MTU} type veth peer name eth0 netns {name}",
            f"link set port{host} master bridge addrgenmode none up",
        ]
    _ip(lines, cluster.switch)
    addresses = [cluster.address(host) for host in range(cluster.hosts)]
    for host, name in enumerate(cluster.host_names):
        lines = [
            "link set lo up",
            f"link set eth0 address {_mac(cluster, host)} mtu {MTU} addrgenmode none up",
            f"address add {addresses[host]}/16 dev eth0",
        ]
        lines += _neighbours(cluster, addresses, but=host)
        _ip(lines, name, _SETTINGS)
    _ip(_neighbours(cluster, addresses), cluster.switch, _SETTINGS)
    shape(cluster)


def shape(cluster: Cluster) -> None:
    """Give both ends of every link the cluster's rate.

    Links that are slowed down have to be idle: queued pieces above the new bucket never leave.
    """
    bucket = max(LEAST_BUCKET, round(cluster.rate * BUCKET_SECONDS / 8))
    piece = min(round(PIECE_SHARE * bucket), MOST_PIECE)
    link = f"tbf rate {cluster.rate}bit burst {bucket}"
    at_host = at_switch = f"{link} latency {QUEUE_SECONDS}s"
    if cluster.queue:
        piece = min(piece, max(2 * MTU, cluster.queue // PIECES_IN_QUEUE))
        at_switch = f"{link} limit {cluster.queue}"
    for name in cluster.host_names:
        _ip([f"link set eth0 gso_max_size {piece}"], name)
        _run([tool("tc"), "-n", name, "-batch", "-"], f"qdisc replace dev eth0 root {at_host}\n")
    ports = [f"qdisc replace dev port{host} root {at_switch}\n" for host in range(cluster.hosts)]
    _run([tool("tc"), "-n", cluster.switch, "-batch", "-"], "".join(ports))


def remove(cluster: Cluster | Damaged) -> None:
    """End everything in a cluster and remove it, however much of it there is.

    Raises:
        CommandError: some namespace cannot be removed.
    """
    end_processes(cluster.namespaces)
    present = [name for name in cluster.namespaces if (NETNS / name).exists()]
    if present:
        lines = "".join(f"netns delete {name}\n" for name in present)
        _run([tool("ip"), "-force", "-batch", "-"], lines, check=False)
    left = [name for name in present if (NETNS / name).exists()]
    if left:
        raise CommandError(f"cannot remove the namespaces {', '.join(left)}; try: ip netns delete")
    forget(cluster)


def _mac(cluster: Cluster, host: int) -> str:
    return f"02:53:59:{cluster.subnet:02x}:{host >> 8:02x}:{host & 255:02x}"


def _neighbours(cluster: Cluster, addresses: Sequence[str], but: int | None = None) -> list[str]:
    device = "bridge" if but is None else "eth0"
    return [
        f"neighbour replace {address} lladdr {_mac(cluster, host)} dev {device} nud permanent"
        for host, address in enumerate(addresses)
        if host != but
    ]


def _ip(lines: Sequence[str], namespace: str | None = None, then: str = "") -> None:
    """Run lines of `ip` in a namespace, or in this process's, then a shell's lines there."""
    words = [tool("ip"), "-batch", "-"]
    if namespace is not None:
        script = f"set -e\n{shlex.quote(tool('ip'))} -batch -\n{then}"
        words = [tool("nsenter"), f"--net={NETNS / namespace}", "sh", "-c", script]
    _run(words, "".join(f"{line}\n" for line in lines))


def _run(words: Sequence[str], text: str, check: bool = True) -> None:
    """Run a program with `text` on its standard input; its first complaint is the error."""
    answer = subprocess.run(
        words,
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        pass_fds=held_open,
        check=False,
    )
    if check and answer.returncode != 0:
        complaint = (answer.stderr.strip().splitlines() or ["no reason given"])[0]
        raise CommandError(
            f"the kernel cannot make this cluster: {complaint} (needed: namespaces, veth, bridge "
            f"and the tbf queue)"
        )
