"""A plan in words: its measures and, for few ranks, every step."""

import json
from typing import Any

import sibyl
from sibyl.errors import counted

# Up to this many ranks the summary shows every step.
STEPS_UP_TO = 16


def _slice_text(buffer: str, ranges: list[list[int]]) -> str:
    parts = [str(f) if n == 1 else f"{f}..{f + n - 1}" for f, n in ranges]
    return f"{buffer}[{', '.join(parts)}]"


def _data_text(data: dict[str, Any], count: int) -> str:
    ranges = data.get("ranges") or [[data["first"], data.get("count", count)]]
    total = sum(n for _, n in ranges)
    return _slice_text(data["buffer"], ranges) if total else "nothing"


def step_text(step: dict[str, Any]) -> str:
    """One step of the plan's JSON in words."""
    data = _data_text(step, step["count"])
    kind, peer = step["kind"], step.get("peer")
    if kind == "send":
        text = f"send {data} to {peer}"
    elif kind == "receive":
        text = f"receive {data} from {peer}"
    elif kind == "receive_combine":
        text = f"receive from {peer} and combine: {data} := message (+) {data}"
    elif kind == "copy":
        text = f"copy {data} := {_data_text(step['from'], step['count'])}"
    else:
        text = f"combine {data} := {_data_text(step['from'], step['count'])} (+) {data}"
    if step["gate"] == "on_start":
        text += ", in the background"
    if step["after"]:
        text += f", after step {', '.join(str(s) for s in step['after'])}"
    return text


def print_summary(
    plan: sibyl.Plan, count: int | None, nodes: list[int] | None, lanes: int, problem: str | None
) -> None:
    """Print measures and, for few ranks, every step.

    Args:
        plan: what is printed.
        count: elements of a vector or block, where that is known.
        nodes: the node of each rank, where --nodes says it.
        lanes: ranks of every node that send and receive between nodes.
        problem: why the plan is wrong; empty where it is proven, None where nobody tried.
    """
    row = next(row for row in sibyl.algorithms(plan.collective) if row.name == plan.algorithm)
    title = f"{plan.collective} {plan.algorithm}, {counted(plan.ranks, 'rank')}"
    print(f"{title}, root {plan.root}" if row.rooted else title)
    unit = "vector" if plan.partition == "vector" else "block"
    print(f"  rounds      {plan.rounds}")
    print(f"  messages    {plan.messages}")
    print(f"  steps       {plan.steps}")
    size = "" if count is None else f" of {counted(count, 'element')}"
    print(f"  partition   {counted(plan.segments, 'part')} a {unit}{size}")
    print(f"  one-ported  {'yes' if plan.one_ported else 'no'}")
    if row.combines:
        print(f"  operands    {'in rank order' if plan.keeps_order else 'in any order'}")
    if nodes is not None:
        print(f"  nodes       {max(nodes) + 1}, {counted(lanes, 'lane')}")
    if problem is not None:
        print(f"  proven      {f'NO: {problem}' if problem else 'yes'}")
    if plan.ranks > STEPS_UP_TO:
        print(f"(steps are shown up to {STEPS_UP_TO} ranks; --json FILE writes them all)")
        return
    for rank, program in enumerate(json.loads(plan.to_json())["programs"]):
        print(f"rank {rank}" if nodes is None else f"rank {rank}, node {nodes[rank]}")
        if not program:
            print("  nothing to do")
        for number, step in enumerate(program):
            print(f"  {number:>3}  round {step['round']:>2}  {step_text(step)}")
