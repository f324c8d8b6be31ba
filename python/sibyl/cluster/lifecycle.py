"""Bring clusters up and down, whole or not at all."""

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sibyl.cluster import network, state
from sibyl.cluster.state import Cluster, Damaged, Lock
from sibyl.errors import CommandError, counted
from sibyl.processes.guardian import Guardian
from sibyl.processes.identity import Identity
from sibyl.processes.signals import handled, heeded, leave
from sibyl.processes.supervisor import ENDING


def bring_up(name: str, hosts: int, rate: int, queue: int = 0) -> tuple[Cluster, str]:
    """Make a cluster, or change the one of that name into what is wanted.

    Args:
        name: of the cluster.
        hosts: how many.
        rate: of each link and direction, bits per second.
        queue: bytes that the switch keeps in front of each link; 0: as much as comes.

    Returns:
        The cluster, and what was done to get it: "is up already", "is up", "is reshaped",
        "is rebuilt".
    """
    state.check_name(name)
    if not 1 <= hosts <= state.MOST_HOSTS:
        raise CommandError(f"--hosts {hosts}: a cluster has 1 to {state.MOST_HOSTS} hosts")
    network.check_possible()
    with state.locked(name) as lock:
        before = state.load(name)
        whole = isinstance(before, Cluster) and before.complete and not before.missing()
        if isinstance(before, Cluster) and whole and before.hosts == hosts:
            if (before.rate, before.queue) == (rate, queue):
                return before, "is up already"
            wanted = replace(before, rate=rate, queue=queue)
            with _all_or_nothing(wanted, lock):
                network.shape(wanted)
            return wanted, f"is reshaped (was {state.rate_text(before.rate)})"
        if before is not None:
            _remove(before, lock)
        network.check_free(Cluster(name, hosts, rate, state.SUBNETS[0]))
        wanted = _reserve(name, hosts, rate, queue)
        with _all_or_nothing(wanted, lock):
            network.build(wanted)
        if before is None:
            return wanted, "is up"
        if not isinstance(before, Cluster) or not whole:
            return wanted, "is rebuilt (was damaged)"
        made = f"{counted(before.hosts, 'host')} at {state.rate_text(before.rate)}"
        return wanted, f"is rebuilt (was {made})"


def take_down(name: str, force: bool = False) -> bool:
    """Remove a cluster; a run in it is ended if `force`.

    Returns:
        Whether there was one.
    """
    state.check_name(name)
    network.check_possible()
    cluster = state.load(name)
    if cluster is None:
        return False
    if force:
        _end_holder(name)
    with state.locked(name) as lock:
        cluster = state.load(name)
        if cluster is not None:
            _remove(cluster, lock, last=True)
    return cluster is not None


def _end_holder(name: str) -> None:
    """End the command that holds a cluster's lock; its guardian ends what it had started."""
    process = state.holder(name)
    if isinstance(process, Identity) and process.send(signal.SIGKILL):
        patience = time.monotonic() + 5
        while process.alive and time.monotonic() < patience:
            time.sleep(0.01)


def _remove(cluster: Cluster | Damaged, lock: Lock, last: bool = False) -> None:
    """Remove a cluster to the last part, whatever signal comes; if `last`, the lock as well."""

    def clean() -> None:
        network.remove(cluster)
        lock.release()

    guardian = Guardian(clean, keep=lock.handle)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        network.remove(cluster)
    finally:
        if last:
            lock.release()
        guardian.release()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reserve(name: str, hosts: int, rate: int, queue: int) -> Cluster:
    """A cluster with a subnet of its own, noted as incomplete."""
    with _directory_lock():
        # A damaged one's is not known. Its switch is not ours, and so they would not meet.
        taken = {each.subnet for each in state.load_all() if isinstance(each, Cluster)}
        free = [subnet for subnet in state.SUBNETS if subnet not in taken]
        if not free:
            raise CommandError("all subnets are taken; take clusters down: sibyl cluster status")
        cluster = Cluster(name, hosts, rate, free[0], complete=False, queue=queue)
        state.save(cluster)
    return cluster


@contextmanager
def _directory_lock() -> Iterator[None]:
    handle = os.open(state.directory(), os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _all_or_nothing(cluster: Cluster, lock: Lock) -> Iterator[None]:
    """Note the cluster as complete after the body; remove it if the body ends in any other way."""

    def clean() -> None:
        network.remove(cluster)
        lock.release()

    with handled(heeded(ENDING), leave):
        guardian = Guardian(clean, keep=lock.handle)
        try:
            state.save(replace(cluster, complete=False))
            yield
            state.save(replace(cluster, complete=True))
        except BaseException:
            for number in ENDING:
                signal.signal(number, signal.SIG_IGN)
            network.remove(cluster)
            raise
        finally:
            lock.release()
            guardian.release()
