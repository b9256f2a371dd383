#!/usr/bin/env python3
"""Echo client on thriftpy2: sends the values of thrift_sample.py, checks the answers. Every call has the id 0.

    python thriftpy2_client.py 127.0.0.1 9090 --protocol compact --transport framed
"""
import sys

import thrift_sample
from thriftpy2_common import PROTOCOLS, TRANSPORTS, arguments, idl
from thriftpy2.protocol import TMultiplexedProtocolFactory
from thriftpy2.rpc import make_client

ap = arguments(__doc__)
ap.add_argument("host")
ap.add_argument("port", type=int)
args = ap.parse_args()
proto = PROTOCOLS[args.protocol]()
if args.multiplexed:
    proto = TMultiplexedProtocolFactory(proto, args.multiplexed)
client = make_client(idl.Echo, args.host, args.port, proto_factory=proto,
                     trans_factory=TRANSPORTS[args.transport](), timeout=10_000)
failed = thrift_sample.check(client.echo, idl, idl.EchoError, client.ping)
client.close()
sys.exit(1 if failed else 0)
