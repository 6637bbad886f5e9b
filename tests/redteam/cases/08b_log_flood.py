# 8b log_flood
# attempts: to print 10 GB
# required: VERDICT
# verdict: output limit
import os

for _ in range(10 << 10):
    os.write(1, b"x" * (1 << 20))
