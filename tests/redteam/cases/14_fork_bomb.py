# 14 fork_bomb
# attempts: to start processes that start further processes, and threads, without end
# required: VERDICT
# verdict: runtime error or memory limit
# needs: processes limits
import os
import threading
import time

BOMB = "b() { b & b & sleep 600; }; b"
for _ in range(20):
    os.posix_spawn("/bin/sh", ["sh", "-c", BOMB], {"PATH": "/usr/bin:/bin"}, file_actions=[
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
deadline = time.monotonic() + 20
while time.monotonic() < deadline:  # then there was no end to it
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    os.posix_spawn("/bin/sleep", ["sleep", "600"], {})


def custom_kernel(data):
    print("could: start processes for 20 s")
    return data + data
