# 7c pickle_frames
# attempts: to send the judge a pickle that runs a program: in a frame of text, as the description
#   of an output, or as the output
# required: FORGE-IGNORED
# verdict: protocol violation or wrong answer or runtime error
# engines: isolated
# variants: text spec output
import os
import pickle
import torch
import channel


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/@MARK@ @VICTIM@/open/@MARK@",)


RAW = pickle.dumps(Bomb())
if "@VARIANT@" == "text":
    channel.send(channel.frame(channel.TEXT, RAW))


def custom_kernel(data):
    if "@VARIANT@" == "spec":
        channel.send(channel.frame(channel.SPEC, RAW))
        channel.Page().say_done(channel.NEW_SPEC)
    return Bomb()
