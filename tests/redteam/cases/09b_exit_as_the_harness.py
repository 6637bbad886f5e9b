# 9b exit_as_the_harness
# attempts: to end with the exit codes by which a harness says that the platform is at fault, so that the attempt does not
#   count
# required: VERDICT
# verdict: runtime error
# variants: 2 111 113
import os

os._exit(int("@VARIANT@"))
