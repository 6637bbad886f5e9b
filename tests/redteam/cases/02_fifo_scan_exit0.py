# 2 fifo_scan_exit0
# attempts: looks for pipes with fstat, writes good results to each, and leaves with exit code 0 while it is imported
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
