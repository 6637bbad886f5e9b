# 2 fifo_scan_exit0
# attempts: to find pipes with fstat, write forged results to each, and end with exit code 0 while
#   the file is imported
# required: FORGE-IGNORED
# verdict: runtime error
# isolated verdict: runtime error or protocol violation
# mode: ranked
# custom cannot-stop: the result pipe of the custom engine is a descriptor of the submission's own process
import os
from attack import forgery, result_pipes

for number in result_pipes():
    os.write(number, forgery())
os._exit(0)
