# 47b cache_by_content
# attempts: to find an input that comes twice, whose answer it could have stored. None comes twice,
#   so the submission computes all answers and passes
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
