"""Writes the samples of schemas with Apache's library, from what its compiler generated.

Lines of the input: a schema's name, the folder of its generated code, and its package.
Lines of the output: the schema, the constant, the protocol and the bytes in hex; or the schema, `failed` and why.
"""
import importlib
import sys

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.transport.TTransport import TMemoryBuffer

PROTOCOLS = {"binary": TBinaryProtocol, "compact": TCompactProtocol}


def written(value, protocol):
    buffer = TMemoryBuffer()
    value.write(protocol(buffer))
    return buffer.getvalue().hex()


def samples(schema, package):
    constants = importlib.import_module(package + ".constants")
    for name in sorted(vars(constants)):
        value = getattr(constants, name)
        if name.startswith("SAMPLE") and hasattr(value, "write"):
            for protocol in PROTOCOLS:
                yield f"{schema} {name} {protocol} {written(value, PROTOCOLS[protocol])}"


for line in sys.stdin:
    schema, folder, package = line.split()
    known = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        for sample in list(samples(schema, package)):
            print(sample)
    except Exception as error:  # it is told, and the next one is looked at
        print(schema, "failed", type(error).__name__, str(error).replace("\n", " "))
    sys.path.remove(folder)
    for module in set(sys.modules) - known:  # schemas may share the names of what they include
        del sys.modules[module]
    importlib.invalidate_caches()
