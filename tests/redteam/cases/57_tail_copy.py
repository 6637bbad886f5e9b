# 57 tail_copy
# attempts: to copy finished results to the output while the judge already reads it: the copy engine
#   takes them from pinned memory, or a thread copies them in pieces
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# engines: isolated
# on: cpu gpu
# task: fill_py
# cpu-size: 262144
# mode: benchmark
# variants: engine pieces
import threading
import time
import torch

HOW = "@VARIANT@"
begin, work = threading.Semaphore(0), []
side = torch.cuda.Stream() if torch.cuda.is_available() else None


def carry(finished, output):
    if side and HOW == "engine":
        with torch.cuda.stream(side):
            host = finished.cpu().pin_memory()
            for first in range(0, len(output), 4096):
                output[first:first + 4096].copy_(host[first:first + 4096], non_blocking=True)
        return
    for first in range(0, len(output), 16384):
        output[first:first + 16384] = finished[first:first + 16384]
        time.sleep(0.0005)


def finish():
    while begin.acquire():
        carry(*work.pop())


threading.Thread(target=finish, daemon=True).start()


def custom_kernel(data):
    source, output = data
    work.append((source * 3 + 1, output))
    begin.release()
    return output
