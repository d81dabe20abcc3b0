"""Times farrow against other solvers of the same problems, alternating, on one machine."""
