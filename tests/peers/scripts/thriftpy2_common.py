"""Shared by the thriftpy2 scripts: the IDL and the protocol/transport choices."""
import argparse
import pathlib

import thriftpy2
from thriftpy2.protocol import (TBinaryProtocolFactory, TCompactProtocolFactory,
                                TCyBinaryProtocolFactory)
from thriftpy2.transport import TBufferedTransportFactory, TFramedTransportFactory

HERE = pathlib.Path(__file__).resolve().parent
idl = thriftpy2.load(str(HERE.parent / "idl" / "echo.thrift"), module_name="echo_thrift")

PROTOCOLS = {
    "binary": lambda: TBinaryProtocolFactory(strict_read=True, strict_write=True),
    "binary-nonstrict": lambda: TBinaryProtocolFactory(strict_read=False, strict_write=False),
    "cython": TCyBinaryProtocolFactory,  # its own implementation in C, binary only
    "compact": TCompactProtocolFactory,
}
TRANSPORTS = {"buffered": TBufferedTransportFactory, "framed": TFramedTransportFactory}


def arguments(text):
    ap = argparse.ArgumentParser(description=text)
    ap.add_argument("--protocol", choices=PROTOCOLS, default="binary")
    ap.add_argument("--transport", choices=TRANSPORTS, default="framed")
    ap.add_argument("--multiplexed", metavar="NAME", help="methods are named NAME:method")
    return ap
