# 9b exit_as_the_harness
# attempts: to end with an exit code that blames the platform, so that the attempt does not count
# required: VERDICT
# verdict: runtime error
# variants: 2 111 113
import os

os._exit(int("@VARIANT@"))
