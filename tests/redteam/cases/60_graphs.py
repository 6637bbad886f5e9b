# 60 graphs
# attempts: to replay a CUDA graph that was captured with another input, captured nothing, leaves
#   out a part, or copies an old answer
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: stale empty part answer
import torch

HOW, graph, kept = "@VARIANT@", None, None


def capture(source, output):
    global kept
    made = torch.cuda.CUDAGraph()
    kept = (source.clone(), torch.empty_like(output), (source * 3 + 1).clone())
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    torch.cuda.synchronize()
    with torch.cuda.graph(made, stream=side):
        if HOW == "stale":
            torch.add(kept[0] * 3, 1, out=output)
        elif HOW == "part":
            torch.add(source[:-4096] * 3, 1, out=output[:-4096])
        elif HOW == "answer":
            output.copy_(kept[2])
    return made


def custom_kernel(data):
    global graph
    if graph is None:
        torch.add(data[0] * 3, 1, out=data[1])
        graph = capture(*data)
        return data[1]
    graph.replay()
    return data[1]
