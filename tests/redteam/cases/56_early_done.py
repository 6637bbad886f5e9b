# 56 early_done
# attempts: to say "done" on the page when a part of the output is missing: nine tenths, half, a
#   tenth, or a piece in the middle. In other variants a thread says "done" as soon as the bell
#   rings, or a patch of the engine's code says it before the call
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# engines: isolated
# task: fill_py
# cpu-size: 262144
# mode: benchmark
# variants: 10 50 90 middle thread loop
import gc
import threading
import time
import channel

HOW = "@VARIANT@"
HONEST_CALLS = 3  # until the form of the output is known
PIECES, PIECE_S, LATE_PIECE_S = 20, 0.001, 0.03  # what comes late is late also for a judge on a busy machine
page, calls = channel.Page(), 0


def ring_at_once():
    """From another thread: the work has not begun."""
    last = page.called
    while True:
        now = page.called
        if now != last and calls >= HONEST_CALLS:
            page.say_done()
        last = now


def patch_loop():
    """The contestant answers before it calls."""
    contestant = next(one for one in gc.get_objects() if type(one).__name__ == "Contestant")
    kind, real = type(contestant), type(contestant).answer

    def answer(self, *arguments):
        if calls >= HONEST_CALLS:
            page.say_done()
        return real(self, *arguments)

    kind.answer = answer


if HOW == "thread":
    threading.Thread(target=ring_at_once, daemon=True).start()


def custom_kernel(data):
    """In pieces, each of which takes a while; the one in the middle last."""
    global calls
    source, output = data
    calls += 1
    if calls == HONEST_CALLS and HOW == "loop":
        patch_loop()
    if calls <= HONEST_CALLS:
        output.copy_(source * 3 + 1)
        return output
    size = len(source) // PIECES
    order = sorted(range(PIECES), key=lambda piece: piece == PIECES // 2) if HOW == "middle" else range(PIECES)
    rings = {"10": 2, "50": 10, "90": 18, "middle": PIECES - 1}.get(HOW)
    for count, piece in enumerate(order):
        if count == rings:
            page.say_done()
        time.sleep(PIECE_S if rings is None or count < rings else LATE_PIECE_S)
        part = slice(piece * size, len(source) if piece == PIECES - 1 else (piece + 1) * size)
        output[part] = source[part] * 3 + 1
    return output
