# 1b fd_forge_and_go_on
# attempts: prints good results to every pipe, and lets the harness find the wrong answer
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# mode: ranked
import os
from attack import forgery, result_pipes

for number in result_pipes():
    os.write(number, forgery())


def custom_kernel(data):
    return data
