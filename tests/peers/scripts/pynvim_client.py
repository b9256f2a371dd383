#!/usr/bin/env python3
"""pynvim against a server that plays Neovim's part: calls, an error, a handle, and calls and notifications back.

    python pynvim_client.py HOST PORT
"""
import sys

import pynvim

nvim = pynvim.attach("tcp", address=sys.argv[1], port=int(sys.argv[2]))
tally = [0, 0]


def check(name, ok):
    tally[not ok] += 1
    print("ok  " if ok else "FAIL", name)


check("the handshake", nvim.channel_id == 1)
check("a call", nvim.eval("1 + 2") == 3)
buffer = nvim.current.buffer
check("a handle, and a call of it", buffer.number == 1 and len(buffer) == 7)
try:
    nvim.request("nvim_no_such_thing")
    check("an error", False)
except pynvim.NvimError as error:
    check("an error", "nvim_no_such_thing" in str(error))

answers, events = [], []


def on_request(name, args):
    # The server waits for this answer, and answers another call meanwhile.
    return [name, nvim.eval(args[0])]


def on_notification(name, args):
    events.append([name, args])
    nvim.stop_loop()


def ask():
    answers.append(nvim.request("ask", "20 + 22"))
    answers.append([nvim.request("ask", "%d + 1" % i)[1] for i in range(50)])
    nvim.request("tell", "news")


nvim.run_loop(on_request, on_notification, ask)
check("a call back, with another call in it", answers[:1] == [["answer", 42]])
check("50 of them", answers[1:] == [list(range(1, 51))])
check("a notification back", events == [["event", ["news"]]])
nvim.close()
print(f"{tally[0]} passed, {tally[1]} failed")
sys.exit(1 if tally[1] else 0)
