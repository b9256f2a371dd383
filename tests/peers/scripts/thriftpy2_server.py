#!/usr/bin/env python3
"""Echo server on thriftpy2 (PyPI: thriftpy2), at a free port of 127.0.0.1, which it prints.

    python thriftpy2_server.py --protocol compact --transport framed
"""
import threading
import time

from thriftpy2.server import TThreadedServer
from thriftpy2.thrift import TMultiplexedProcessor, TProcessor
from thriftpy2.transport import TServerSocket
from thriftpy2_common import PROTOCOLS, TRANSPORTS, arguments, idl


class Handler:
    def __init__(self):
        self.pings = 0
        self.lock = threading.Lock()

    def echo(self, req):
        if req.delay_ms:
            time.sleep(req.delay_ms / 1000)
        if req.fail_code:
            raise idl.EchoError(code=req.fail_code, message=f"asked to fail: {req.must}")
        return idl.EchoResponse(request=req, server="thriftpy2", pings=self.pings)

    def ping(self, note):
        with self.lock:
            self.pings += 1


class Listener(TServerSocket):
    def listen(self):
        super().listen()
        host, port = self.sock.getsockname()
        print(f"listening {host}:{port}", flush=True)


args = arguments(__doc__).parse_args()
processor = TProcessor(idl.Echo, Handler())
if args.multiplexed:
    single, processor = processor, TMultiplexedProcessor()
    processor.register_processor(args.multiplexed, single)
TThreadedServer(processor, Listener(host="127.0.0.1", port=0, client_timeout=60_000),
                iprot_factory=PROTOCOLS[args.protocol](),
                itrans_factory=TRANSPORTS[args.transport]()).serve()
