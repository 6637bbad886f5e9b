"""Scale a vector.

Write the kernel `scale`, which multiplies every element by `factor`.
"""

tests = [{"size": 100, "factor": 3, "seed": 1}, {"size": 1000, "factor": 2, "seed": 2}]
benchmarks = [{"size": 100000, "factor": 2, "seed": 3}]
