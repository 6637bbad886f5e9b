# 68c write_input_after_done
# attempts: to write to shared memory after its call: to inputs, to outputs of earlier calls, or to
#   everything that the judge shares
# required: VERDICT
# verdict: passed or wrong answer or protocol violation or runtime error or time limit
# engines: isolated
# on: cpu gpu
# mode: benchmark
# variants: input earlier-output all-places
import threading
import time
import torch
import channel

HOW, page = "@VARIANT@", channel.Page()
kept = []


def spoil():
    while True:
        if page.called == page.done and kept:
            for one in kept[-4:] if HOW == "input" else kept[:-1]:
                one.fill_(7)
            if HOW == "all-places":
                for address, size in channel.shared():
                    if size != channel.PAGE_BYTES:
                        channel.ctypes.memset(address, 7, size)
        time.sleep(0.0001)


threading.Thread(target=spoil, daemon=True).start()


def custom_kernel(data):
    made = data + data
    kept.append(data if HOW == "input" else made)
    return made
