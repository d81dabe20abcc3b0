"""How much work a peer needs to reach each target: doubled until the last is met, then halved in between."""
import time

TARGETS = (1e-2, 1e-3, 1e-6)
CLOSE = 0.04


class Search:
    """The search for one peer; `points` keeps every fit as (work, seconds, suboptimality or None)."""

    def __init__(self, child, solver, lower, budget):
        self.child, self.solver, self.lower, self.budget = child, solver, lower, budget
        self.points, self.peak, self.started = {}, 0, time.monotonic()

    def spent(self):
        """Whether the next fit would go over the budget, were it as long as the longest so far."""
        used = time.monotonic() - self.started
        return used + max((seconds for seconds, _ in self.points.values()), default=0.0) > self.budget

    def at(self, work):
        """Suboptimality after so much work (infinite where the objective is)."""
        if work not in self.points:
            answer = self.child.ask({"do": "fit", "work": work})
            value = answer["objective"]
            below = float("inf") if value is None else (value - self.lower) / abs(self.lower)
            if below < -1e-8:
                raise AssertionError(f"{self.solver.name} is {-below:.1e} below the lower bound of the optimum: a bug of this bench")
            self.points[work] = (answer["seconds"], below)
            self.peak = max(self.peak, answer["peak_kib"])
        return self.points[work][1]

    def grow(self):
        """More and more work, until the last target is met, the budget is spent or there is no more to give."""
        work = 1 if self.solver.most_work == 1 or self.solver.knob != "tolerance" else 4
        while True:
            if self.at(work) <= TARGETS[-1] or work >= self.solver.most_work or self.spent():
                return
            work = min(work + 6 if self.solver.knob == "tolerance" else 2 * work, self.solver.most_work)

    def smallest(self, target):
        """The least work that was seen to meet a target, searched between what missed and what met; None if nothing did."""
        met = [work for work, (_, below) in self.points.items() if below <= target]
        if not met:
            return None
        high = min(met)
        low = max((work for work in self.points if work < high), default=0)
        while high - low > max(1, CLOSE * high) and not self.spent():
            middle = (low + high) // 2
            if self.at(middle) <= target:
                high = middle
            else:
                low = middle
        return high

    def run(self):
        """{target: work or None}."""
        self.grow()
        return {f"{target:g}": self.smallest(target) for target in TARGETS}

    def listed(self):
        """The points in order of work, for the record."""
        return [[work, seconds, below if below < 1e300 else None] for work, (seconds, below) in sorted(self.points.items())]
