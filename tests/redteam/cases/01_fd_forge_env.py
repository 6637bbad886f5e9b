# 1 fd_forge_env
# attempts: to write forged results to the descriptor that POPCORN_FD names and to every other one,
#   and to end before the harness can write its own
# required: FORGE-IGNORED
# verdict: runtime error
# isolated verdict: runtime error or protocol violation
# mode: ranked
# custom cannot-stop: the harness of the custom engine reports from the submission's own process, so what it writes there cannot
#   be told from what the harness would write
import os
from attack import forgery

for number in [int(os.environ.get("POPCORN_FD", "3"))] + list(range(3, 256)):
    try:
        os.write(number, forgery())
    except OSError:
        pass
os._exit(0)
