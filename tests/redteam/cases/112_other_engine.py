# 112 other_engine
# attempts: to get into the custom engine, where it could report forged times. The isolated engine
#   cannot split this task, and the submission takes 1 GiB of memory while it is imported. The judge
#   then ends with the exit code that used to start the custom engine
# required: FORGE-IGNORED
# verdict: internal error
# engines: isolated
# task: refused_py
# mode: ranked
import mmap
import os
import sys

from attack import forgery, result_pipes

if len(sys.argv) > 2:  # eval.py MODE CASES: the custom engine
	for number in result_pipes():
		os.write(number, forgery())
	os._exit(0)
taken = mmap.mmap(-1, 1 << 30)
for place in range(0, len(taken), mmap.PAGESIZE):
	taken[place] = 1


def custom_kernel(data):
	return data.values + data.values
