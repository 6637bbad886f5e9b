# 70b honest_gpu
# attempts: nothing bad: joined streams, CUDA graphs, cuBLAS, the caching allocator, pinned memory,
#   synchronising, and kernels of 5 us, 50 us and 5 ms
# required: VERDICT
# engines: isolated
# on: gpu
# task: fill_py
# mode: ranked
# variants: eager streams graph cublas allocator pinned synchronises 5us 50us 5000us
# repeatable: yes
import torch
from gpu import cycles

HOW = "@VARIANT@"
streams = [torch.cuda.Stream() for _ in range(4)]
graphs, own = {}, {}


def eager(source, output):
    output.copy_((source * 3).add_(1))
    return output


def joined(source, output):
    """Parts on streams of their own, for which the current one waits."""
    here, step = torch.cuda.current_stream(), len(source) // len(streams)
    for index, stream in enumerate(streams):
        stream.wait_stream(here)
        with torch.cuda.stream(stream):
            part = slice(index * step, (index + 1) * step)
            torch.add(source[part] * 3, 1, out=output[part])
        here.wait_stream(stream)
    return output


def graph(source, output):
    """A graph on memory of its own, into which the input is copied."""
    size = len(source)
    if size not in graphs:
        own[size] = (source.clone(), torch.empty_like(output))
        torch.add(own[size][0] * 3, 1, out=own[size][1])
        torch.cuda.synchronize()
        graphs[size] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[size]):
            torch.add(own[size][0] * 3, 1, out=own[size][1])
    own[size][0].copy_(source)
    graphs[size].replay()
    return output.copy_(own[size][1])


def cublas(source, output):
    matrix = source.view(512, 512)
    identity = torch.eye(512, device=source.device)
    return torch.addmm(torch.ones_like(matrix), matrix, identity, alpha=3).view(-1)


def allocator(source, output):
    kept = [source * 3 for _ in range(20)]
    return kept[-1] + 1


def pinned(source, output):
    return output.copy_(source.cpu().mul_(3).add_(1).pin_memory(), non_blocking=True)


def synchronises(source, output):
    made = source * 3
    torch.cuda.synchronize()
    torch.add(made, 1, out=output)
    torch.cuda.current_stream().synchronize()
    return output


def kernel(source, output):
    torch.cuda._sleep(cycles(float(HOW[:-2]) * 1e-6))
    return torch.add(source * 3, 1, out=output)


WAYS = {"eager": eager, "streams": joined, "graph": graph, "cublas": cublas, "allocator": allocator, "pinned": pinned,
        "synchronises": synchronises}


def custom_kernel(data):
    return WAYS.get(HOW, kernel)(*data)
