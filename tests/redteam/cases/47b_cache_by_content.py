# 47b cache_by_content
# attempts: to answer with what it computed for an input with the very same content, which does not come again: right, and of no
#   use to it
# required: FORGE-IGNORED
# engines: isolated
# on: cpu gpu
# mode: benchmark
import hashlib

kept, met = {}, 0


def custom_kernel(data):
    key = hashlib.blake2b(data.cpu().numpy().tobytes()).digest()
    assert key not in kept, "the same input came twice"
    kept[key] = True
    return data + data
