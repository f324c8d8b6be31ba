"""A profile in the terminal: the headline, then sites by cost, in 80 columns."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sibyl.profile import words
from sibyl.profile.profile import Profile


def print_profile(profile: Profile, console: Console, top: int) -> None:
    """Print it; at most `top` sites."""
    _line(console, words.headline(profile), style="bold")
    if profile.sites:
        console.print(_table(profile, top))
        left = profile.sites[top:]
        if left:
            seconds = words.number(sum(site.seconds for site in left))
            what = "1 more site" if len(left) == 1 else f"{len(left)} more sites"
            _line(console, f"sibyl: {what} took {seconds} rank-seconds (--top shows more)")
    more = [words.node_line(profile), *words.remedy_lines(profile), words.message_line(profile)]
    for line in [*more, *words.closing_lines(profile)]:
        if line:
            _line(console, f"sibyl: {line}")


def _line(console: Console, text: str, style: str | None = None) -> None:
    console.print(Text(text), style=style, soft_wrap=True)


def _table(profile: Profile, top: int) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1), pad_edge=False)
    for heading in ("rank-s", "waiting", "moving", "calls"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("site", overflow="fold")
    for site, judgement in list(zip(profile.sites, profile.judgements, strict=True))[:top]:
        lines = [f"{words.what_is_called(profile, site)} at {words.where(profile, site.place)}"]
        if site.costliest is not None:
            lines.append(words.who_is_late(site.costliest))
        if advice := words.advice_text(judgement):
            lines.append(advice)
        if measured := words.measured_text(site):
            lines.append(measured)
        table.add_row(
            words.number(site.seconds),
            words.number(site.waiting),
            words.number(site.moving),
            str(site.calls),
            Text("\n".join(lines)),
        )
    return table
