"""Medians, spreads and ratios of what was measured; a ratio is refused where the machine was too busy."""
from dataclasses import dataclass

LEAST_CLEAN = 3


@dataclass(frozen=True)
class Figure:
    """A median with its range over the clean repetitions that reached the target."""

    median: float
    low: float
    high: float
    clean: int
    all: int

    @property
    def usable(self):
        """Whether enough of it was measured on a quiet machine."""
        return self.clean >= LEAST_CLEAN


def middle(values):
    """The median."""
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else 0.5 * (values[half - 1] + values[half])


def figure(records, field="seconds"):
    """The figure of repetitions; None where most of them missed the target. All count if too few are clean."""
    if not records or sum(r[field] is not None for r in records) <= len(records) / 2:
        return None
    reached = [r for r in records if r[field] is not None]
    clean = [r[field] for r in reached if r["clean"]]
    used = clean if len(clean) >= LEAST_CLEAN else [r[field] for r in reached]
    return Figure(middle(used), min(used), max(used), len(clean), len(records))


def ratio(numerator, denominator):
    """Their ratio as text: "busy" where the machine disturbed either, "–" where either is missing."""
    if numerator is None or denominator is None:
        return "–"
    if not (numerator.usable and denominator.usable):
        return "busy"
    return f"{numerator.median / denominator.median:.2f}"


def best(figures):
    """The name with the least usable median; without a usable one, the least of all; None for none."""
    there = {name: f for name, f in figures.items() if f is not None}
    return min(there, key=lambda name: (not there[name].usable, there[name].median), default=None)
