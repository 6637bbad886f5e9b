# 1b fd_forge_and_go_on
# attempts: to write forged results to every pipe. The submission then continues and returns a wrong
#   answer
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# mode: ranked
import os
from attack import forgery, result_pipes

for number in result_pipes():
    os.write(number, forgery())


def custom_kernel(data):
    return data
