# 40 frame_walk_seed
# attempts: to find the seed in its callers' frames, in Python's objects, in arguments or in the
#   environment
# required: DENIED
# mode: ranked
# custom cannot-stop: the harness of the custom engine knows the seed, and runs in the submission's own process
import gc
import os
import sys
from attack import attempt, custom_kernel


def in_frames():
    frame, found = sys._getframe(), []
    while frame:
        found += [value for name, value in frame.f_locals.items() if name in ("secret", "seed") and isinstance(value, int)]
        frame = frame.f_back
    return found or None


def in_objects():
    return [one.arguments for one in gc.get_objects() if type(one).__name__ == "Case"] or None


attempt("find it in the frames", in_frames)
attempt("find it among the objects", in_objects)
attempt("find it in the environment", lambda: os.environ.get("POPCORN_SEED") or (
    b"POPCORN_SEED" in open("/proc/self/environ", "rb").read() or None))
attempt("find it in the arguments", lambda: [word for word in sys.argv if "seed" in word] or None)
