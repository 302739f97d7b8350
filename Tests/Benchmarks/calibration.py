"""How quiet the machine is: a loop that always does the same, timed again and again."""

import os
import statistics
import time


class Calibration:
    """The median time of the loop, and how far its rounds lie apart, now."""

    def __init__(self, rounds=15):
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            sum(number * number for number in range(300_000))
            times.append(time.perf_counter() - start)
        self.median = statistics.median(times)
        self.spread = (max(times) - min(times)) / self.median
        self.load = os.getloadavg()[0]

    def __str__(self):
        return f"load {self.load:.2f}, a loop takes {self.median * 1e3:.1f} ms, +- {self.spread * 50:.0f} %"

    def is_quiet(self, after):
        """True if wall times in between the two can be judged."""
        drift = abs(after.median / self.median - 1)
        return self.load <= 0.5 and max(self.spread, after.spread) <= 0.2 and drift <= 0.1

    def verdict(self, after):
        """What the two say about the figures in between."""
        if self.is_quiet(after):
            return "quiet"
        return "not quiet: do not quote wall times; ratios within a round may still be compared"
