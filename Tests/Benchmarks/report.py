"""Tables of what was measured, and the budgets."""

import json
import re
from dataclasses import dataclass

from measuring import MeasuringError, cpu, median, peak, ratio, spread, wall

# What the budgets came to, in the order of measuring.
rows = []


@dataclass
class Row:
    """A figure, and the limit that it is judged by; None: it is there for information."""
    what: str
    measured: float
    limit: float
    unit: str
    digits: int
    # Other work of the machine lengthens it, and makes its verdict worthless.
    is_wall: bool

    def verdict(self, is_quiet):
        if self.limit is None:
            return ""
        if self.is_wall and not is_quiet:
            return "not judged"
        return "met" if self.measured <= self.limit else "MISSED"


def successes(log, steps):
    """Checks that the work was really done: the last line of LOG, text or JSON, counts every step as a success."""
    def verify(_):
        last = (log.read_text(encoding="utf-8").splitlines() or [""])[-1]
        if last.startswith("{"):
            record = json.loads(last)
            counts = {outcome: count for outcome, count in record.get("counts", {}).items() if count}
            is_done = record.get("event") == "run.finished" and counts == {"success": steps}
        else:
            is_done = re.fullmatch(rf"success in \S+: {steps:d} success", last)
        if not is_done:
            raise MeasuringError(f"{log}: not {steps} successes at the end, but {last!r}")
    return verify


def table(contenders, samples):
    """One line a contender; the first one of each size of work is the base of the ratios."""
    base = contenders[0]
    for contender in contenders:
        if contender.items != base.items:
            base = contender
        mine, theirs = samples[contender.name], samples[base.name]
        if contender is base:
            each = f"{'each step':>11}" if base.items > 1 else ""
            print(f"\n  {'':<30}{'wall':>11}{'ratio':>8}{'+-':>7}{'user+sys':>12}{'ratio':>8}{'peak':>10}{each}")
        line = (f"  {contender.name:<30}{time(median(mine, wall)):>11}{ratio(mine, theirs, wall):>8.2f}"
                f"{spread(mine, theirs, wall):>7.2f}{time(median(mine, cpu)):>12}{ratio(mine, theirs, cpu):>8.2f}"
                f"{median(mine, peak):>7.1f} MB")
        if contender.items > 1:
            line += f"{median(mine, wall) / contender.items * 1e6:>8.0f} us"
        print(line)
    rounds = len(samples[base.name])
    print(f"  ({rounds} {'round' if rounds == 1 else 'rounds'})", flush=True)


def time(seconds):
    return f"{seconds:.3f} s" if seconds >= 0.1 else f"{seconds * 1e3:.2f} ms"


def budget(what, measured, limit, unit=" x", digits=2, is_wall=False):
    """Notes a figure beside its budget, or without one."""
    rows.append(Row(what, measured, limit, unit, digits, is_wall))


def verdicts(is_quiet):
    """All budgets in one table, those that were missed marked. Wall times are judged only if the machine was quiet."""
    if not rows:
        return
    print("\nbudgets")
    for row in rows:
        limit = f" <= {row.limit:.{row.digits}f}" if row.limit is not None else ""
        print(f"  {row.what:<66}{row.measured:>9.{row.digits}f}{limit}{row.unit:<6} {row.verdict(is_quiet)}".rstrip())
