"""The progress bar of every command that takes its time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from sibyl.terminal import Terminal

Advance = Callable[[float], None]


@contextmanager
def progress_bar(title: str, total: float, done: float = 0.0) -> Iterator[Advance]:
    """A bar with the time left on stderr, where somebody looks; gone when the body ends.

    Args:
        title: before the bar.
        total: how much there is to do, in any unit.
        done: how much of it is done already.

    Yields:
        What is to be called with how much more has been done.
    """
    console = Terminal(stderr=True)
    if not console.is_terminal:
        yield lambda _amount: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=total)
        bar.advance(task, done)
        yield lambda amount: bar.advance(task, amount)
