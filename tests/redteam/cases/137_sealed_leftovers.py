# 137 sealed_leftovers
# attempts: to leave something of the build behind that works during the calls: a thread that keeps
#   the GPU busy, files, a process that keeps the channel to the judge. Or to end before the plan is made
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# variants: honest thread files process exit
# verdict process: time limit
# reason process: did not end within
# verdict exit: runtime error
# truth: honest
# spared: 0.3
import os
import threading
import time
import torch

HOW, begun = "@VARIANT@", []


def burn():
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        while True:
            torch.cuda._sleep(1000000)
            side.synchronize()


def leave_files():
    for folder in (".", os.environ.get("TORCH_EXTENSIONS_DIR", "."), os.environ.get("HOME", "."), "/tmp", "/dev/shm"):
        try:
            with open(os.path.join(folder, "@MARK@"), "w") as file:
                file.write("left")
        except OSError:
            pass


def begin():
    if HOW == "thread":
        threading.Thread(target=burn, daemon=True).start()
    elif HOW == "files":
        leave_files()
    elif HOW == "process" and os.fork() == 0:
        os.setsid()
        time.sleep(30)
        os._exit(0)
    elif HOW == "exit":
        os._exit(0)


def custom_kernel(data):
    source, output = data
    if not begun:
        begun.append(begin())
    return torch.add(source * 3, 1, out=output)
