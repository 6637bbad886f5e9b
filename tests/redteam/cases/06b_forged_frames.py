# 6b forged_frames
# attempts: to confuse the judge with frames on the channel: sent twice or unasked, of a wrong size
#   or kind, with descriptors, or without end. Or with descriptions of an output that are noise, are
#   nested very deep, or point outside the shared memory
# required: FORGE-IGNORED
# verdict: protocol violation or wrong answer or runtime error
# unanswered: no-spec, which says that a form follows and sends none
# engines: isolated
# variants: ready-twice mapped-unasked spec-unasked own-kind no-kind long-content cut whole-empty too-long unused descriptors
#   flood no-spec spec-noise spec-flipped spec-other-call spec-outside spec-negative spec-overlapping spec-huge spec-deep spec-wide
import os
import random
import sys
import torch
import channel
from channel import frame, send
import podium_tree as tree

VARIANT = "@VARIANT@"
noise = random.Random(7)


def description(**changes):
    """The form of a right output, with something changed."""
    tensors = next(one for one in __import__("gc").get_objects() if type(one).__name__ == "Tensors")
    root = tree.Description(torch.zeros(8), tensors, None, None).root
    root.memory, root.flags = tree.OUT_HOST, 0
    for name, value in changes.items():
        setattr(root, name, value)
    return tree.encode(root)


def flipped():
    raw = bytearray(description())
    for _ in range(3):
        raw[noise.randrange(len(raw))] = noise.randrange(256)
    return bytes(raw)


SPECS = {
    "spec-noise": lambda: noise.randbytes(200),
    "spec-flipped": flipped,
    "spec-outside": lambda: description(memory=tree.IN_HOST, offset=1 << 40),
    "spec-negative": lambda: description(strides=(-1,)),
    "spec-overlapping": lambda: description(sizes=(8, 8), strides=(1, 1)),
    "spec-huge": lambda: description(sizes=(1 << 47,), strides=(1,)),
    "spec-deep": lambda: b"\x01" * 60000,
    "spec-wide": lambda: description(sizes=(1,) * 200, strides=(1,) * 200),
}
FRAMES = {
    "ready-twice": [frame(channel.READY)] * 2,
    "mapped-unasked": [frame(channel.MAPPED)] * 50,
    "spec-unasked": [frame(channel.SPEC, b"\0" * 100)],
    "own-kind": [frame(channel.HELLO), frame(channel.INPUTS)],
    "no-kind": [frame(99)],
    "long-content": [frame(channel.READY, b"", length=0xffffffff)],
    "cut": [frame(channel.READY)[:1000]],
    "whole-empty": [b""],
    "too-long": [frame(channel.READY) + b"x"],
    "unused": [frame(channel.READY, unused=1)],
    "flood": [frame(channel.TEXT, b"\xff" * 60000)] * 200,
}
if VARIANT == "descriptors":
    for number in range(3):
        send(frame(channel.READY, descriptors=1), [os.open("/dev/null", os.O_RDONLY)])
for raw in FRAMES.get(VARIANT, []):
    send(raw)
calls = 0


def custom_kernel(data):
    """With a form that is none it never comes to a right output: each call tells of another one."""
    global calls
    calls += 1
    if VARIANT.startswith("spec-") and VARIANT in SPECS:
        send(frame(channel.SPEC, SPECS[VARIANT]()))
        channel.Page().say_done(channel.NEW_SPEC)
    elif VARIANT == "spec-other-call":
        channel.Page().say_done(channel.RETURNED, spec=9)
    elif VARIANT == "no-spec":
        channel.Page().say_done(channel.NEW_SPEC)
    return data[:8]
