"""Shared by the Apache Thrift scripts: generates Python from echo.thrift with the
`thrift` compiler (Debian: thrift-compiler) into a temporary folder, and names the
protocol/transport choices."""
import argparse
import atexit
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
_out = tempfile.mkdtemp(prefix="echo-thrift-")
atexit.register(shutil.rmtree, _out, True)
subprocess.run(["thrift", "-nowarn", "--gen", "py", "-out", _out, str(HERE.parent / "idl" / "echo.thrift")],
               check=True)
sys.path.insert(0, _out)

from echo_gen import Echo, ttypes  # noqa: E402
from thrift.protocol import TBinaryProtocol, TCompactProtocol  # noqa: E402
from thrift.transport import TTransport  # noqa: E402

PROTOCOLS = {
    "binary": lambda: TBinaryProtocol.TBinaryProtocolFactory(strictRead=True, strictWrite=True),
    "binary-accelerated": lambda: TBinaryProtocol.TBinaryProtocolAcceleratedFactory(fallback=False),
    "binary-nonstrict": lambda: TBinaryProtocol.TBinaryProtocolFactory(strictRead=False, strictWrite=False),
    "compact": TCompactProtocol.TCompactProtocolFactory,
    "compact-accelerated": lambda: TCompactProtocol.TCompactProtocolAcceleratedFactory(fallback=False),
}
TRANSPORTS = {"buffered": TTransport.TBufferedTransportFactory,
              "framed": TTransport.TFramedTransportFactory}


class Types:
    """The generated names thrift_sample needs, under one object."""
    EchoRequest, Inner, Choice = ttypes.EchoRequest, ttypes.Inner, ttypes.Choice


def arguments(text):
    ap = argparse.ArgumentParser(description=text)
    ap.add_argument("--protocol", choices=PROTOCOLS, default="binary")
    ap.add_argument("--transport", choices=TRANSPORTS, default="framed")
    ap.add_argument("--multiplexed", metavar="NAME", help="methods are named NAME:method")
    return ap
