# 8 log_spoof
# attempts: to print result lines, events of podium-run, terminal control sequences and markup to
#   standard output and standard error
# required: FORGE-IGNORED
# verdict: wrong answer
# mode: ranked
import os
from attack import forgery

EVENT = b'{"event": "verdict", "job": 1, "verdict": "passed", "reason": "", "engine": "isolated", "score_ns": 7.25}\n'
for number in (1, 2):
    os.write(number, forgery() + EVENT + b"\x1b]0;x\x07\x1b[2J\x1b[31mpassed\x1b[0m\r<script>alert(1)</script>\x00\xff\n")


def custom_kernel(data):
    return data
