#!/usr/bin/env python3
"""The jubatus package's classifier client against a server with Jubatus's conventions, or a keeper of several.

    python jubatus_client.py HOST PORT MEMBERS
"""
import sys

import msgpackrpc
from jubatus.classifier.client import Classifier
from jubatus.classifier.types import LabeledDatum
from jubatus.common import Datum, TypeMismatch, UnknownMethod

host, port, members = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
client = Classifier(host, port, "c1", 10)
tally = [0, 0]


def check(name, ok):
    tally[not ok] += 1
    print("ok  " if ok else "FAIL", name)


def raises(kind, call):
    try:
        call()
    except kind:
        return True
    return False


datum = Datum({"text": "spam", "n": 1.5})
datum.add_binary("raw", b"\xff\x00\xfe")
check("get_config, a text of more than 31 bytes", client.get_config() == '{"method": "%s"}' % ("x" * 100))
check("set_label", client.set_label("ham") is True and client.get_labels() == {"ham": 0})
# Any member may be the one that is trained; then another may be asked.
check("train", all(client.train([LabeledDatum("spam", datum), LabeledDatum("ham", datum)]) == 2 for _ in range(60)))
results = client.classify([datum, Datum({"text": "unknown"})])
check("classify", len(results) == 2 and [r.label for r in results[0]] == ["spam"] and results[0][0].score > 0)
check("no result", results[1] == [])
names = ["member%d" % i for i in range(members)]
saved = client.save("model")
check("save", sorted(saved) == names and saved["member0"].endswith("member0_model.jubatus"))
status = client.get_status()
check("get_status", sorted(status) == names and all(part["labels"] == "2" for part in status.values()))
check("load", client.load("model") is True and client.load("nothing") is False)
check("clear", client.clear() is True and client.get_labels() == {})
check("an unknown method is 1", raises(UnknownMethod, lambda: client.delete_label("ham")))
raw = client.get_client()
try:
    raw.call("train", "c1", 5)
    check("a bad argument is 2", False)
except msgpackrpc.error.RPCError as error:
    check("a bad argument is 2", error.args[0] == 2)
check("the connection stands", client.set_label("again") is True)
print("%d passed, %d failed" % tuple(tally))
sys.exit(1 if tally[1] else 0)
