# 9b exit_as_the_harness
# attempts: to end with the exit codes by which a harness says that the platform is at fault, so that the attempt does not
#   count
# required: VERDICT
# verdict: runtime error
# variants: 2 111 113
# cannot-stop: the custom engine cannot tell whether the harness or the submission in its process ended it; it says
#   "internal error", as harnesses of the field mean it
import os

os._exit(int("@VARIANT@"))
