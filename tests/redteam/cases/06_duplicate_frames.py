# 6 duplicate_frames
# attempts: to confuse the reader of result lines: contradicting lines, a result before its count, a
#   case that does not exist, a line that is too long, too many lines, or lines without a key
# required: FORGE-IGNORED
# verdict: protocol violation or output limit
# mode: ranked
# engines: custom
# variants: twice early no-case long-line many-lines no-key
import os
from attack import custom_kernel, result_pipes

TEXTS = {
    "twice": b"check: pass\ncheck: fail\n",
    "early": b"check: pass\ntest-count: 1\nbenchmark-count: 1\n",
    "no-case": b"test.77.status: pass\nbenchmark.77.mean: 7.25\n",
    "long-line": b"error: " + b"x" * (3 << 20) + b"\n",
    "many-lines": b"error: x\n" * (3 << 20),
    "no-key": b"\x00\xff\x7f\n: : :\n",
}
for number in result_pipes()[:1]:
    text = memoryview(TEXTS["@VARIANT@"])
    while text:
        text = text[os.write(number, text):]
