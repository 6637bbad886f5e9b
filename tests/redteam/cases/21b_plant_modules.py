# 21b plant_modules
# attempts: to leave modules, start files and settings in the stage `test`, where the harness of the
#   ranked stage finds them before its own
# required: DENIED
# mode: ranked
import os
from attack import could, custom_kernel, denied

NAMES = ["torch.py", "numpy.py", "triton.py", "sitecustomize.py", "usercustomize.py", "ast.py", "base64.py", "tokenize.py", "@MARK@.pth"]
WAYS = [f"{place}/{name}" for place in (".", "..") for name in NAMES]
LINE = "import os; os.write(1, b'could: run code before the harness\\n')\n"
HOME = os.environ["HOME"]
PLACES = [".", "..", "../run", HOME, f"{HOME}/.local/lib/python3.11/site-packages", f"{HOME}/.config", os.environ["TMPDIR"],
          os.environ["TRITON_CACHE_DIR"], os.environ["XDG_CACHE_HOME"], "/tmp", "/dev/shm"]
for path in WAYS:
    could(f"leave {path}") if os.path.exists(path) else denied(f"leave {path}", "gone")
for place in PLACES:
    for name in NAMES:
        try:
            os.makedirs(place, exist_ok=True)
            open(f"{place}/{name}", "w").write(LINE)
        except OSError as reason:
            denied(f"write {place}/{name}", reason)
