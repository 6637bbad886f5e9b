# 69b power_burn
# attempts: to keep the GPU hot between its calls, so that it throttles in the null contestant's
#   calls and not in its own
# required: FORGE-IGNORED
# verdict: passed or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: burn
# truth: honest
import threading
import torch
import channel

page = channel.Page()
left, right = (torch.randn(4096, 4096, device="cuda", dtype=torch.half) for _ in range(2))
side = torch.cuda.Stream()


def burn():
    while True:
        if page.called == page.done:
            with torch.cuda.stream(side):
                left @ right
            side.synchronize()


if "@VARIANT@" == "burn":
    threading.Thread(target=burn, daemon=True).start()


def custom_kernel(data):
    source, output = data
    torch.add(source * 3, 1, out=output)
    return output
