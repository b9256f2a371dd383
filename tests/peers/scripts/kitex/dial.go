package main

import (
	"context"
	"net"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/pkg/connpool"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/serviceinfo"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/transport"
	"github.com/cloudwego/netpoll"

	"peer/kitex_gen/hop"
	thrifthop "peer/kitex_gen/hop/hop"
	"peer/kitex_gen/hoppb"
	protohop "peer/kitex_gen/hoppb/hop"
)

// calls are those of the service, whatever they are written in.
type calls struct {
	thrift   thrifthop.Client
	protobuf protohop.Client
	look     func(ctx context.Context, sleepMs int64, business int32, text string, timeout time.Duration) (*seen, error)
	// other is look, but the service or the method has another name.
	other func(service, method string) error
}

func dialled(how way, addresses []string) *calls {
	options := []client.Option{
		client.WithHostPorts(addresses[0]),
		client.WithDialer(firstThatListens{netpoll.NewDialer(), addresses}),
		client.WithMetaHandler(transmeta.ClientTTHeaderHandler),
	}
	if how.transport == "mux" {
		options = append(options, client.WithMuxConnection(2))
	} else {
		options = append(options, client.WithLongConnection(connpool.IdleConfig{MaxIdlePerAddress: 64, MaxIdleGlobal: 64}))
	}
	options = append(options, transports(how)...)
	c := new(calls)
	var info *serviceinfo.ServiceInfo
	var ask, result func() interface{}
	var err error
	if how.protobuf() {
		c.protobuf, err = protohop.NewClient("peer", options...)
		must(err)
		c.look = c.inProtobuf
		info = protohop.NewServiceInfo()
		ask = func() interface{} { return &protohop.LookArgs{Req: &hoppb.Ask{}} }
		result = func() interface{} { return &protohop.LookResult{} }
	} else {
		c.thrift, err = thrifthop.NewClient("peer", options...)
		must(err)
		c.look = c.inThrift
		info = thrifthop.NewServiceInfoForClient()
		ask = func() interface{} { return &hop.HopLookArgs{Ask: &hop.Ask{}} }
		result = func() interface{} { return &hop.HopLookResult{} }
	}
	c.other = func(service, method string) error {
		renamed := *info
		renamed.ServiceName = service
		look := info.Methods["look"]
		if how.protobuf() {
			look = info.Methods["Look"]
		}
		renamed.Methods = map[string]serviceinfo.MethodInfo{method: look}
		client, err := client.NewClient(&renamed, append(options, client.WithDestService("peer"))...)
		must(err)
		return client.Call(context.Background(), method, ask(), result())
	}
	return c
}

// transports are the options that make a client speak so. What an option names is added to what is set, but for a bare payload,
// which takes the rest away.
func transports(how way) []client.Option {
	switch how.transport {
	case "buffered":
		return []client.Option{client.WithTransportProtocol(transport.PurePayload)}
	case "framed":
		if how.protobuf() {
			// No option takes the header away from Protobuf.
			return []client.Option{client.WithMiddleware(framedAlone)}
		}
	case "ttheader":
		return []client.Option{client.WithTransportProtocol(transport.PurePayload),
			client.WithTransportProtocol(transport.TTHeader)}
	case "ttheader-framed":
		return []client.Option{client.WithTransportProtocol(transport.TTHeaderFramed)}
	}
	return nil
}

func framedAlone(next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request, response interface{}) error {
		config := rpcinfo.AsMutableRPCConfig(rpcinfo.GetRPCInfo(ctx).Config())
		must(config.SetTransportProtocol(transport.PurePayload))
		must(config.SetTransportProtocol(transport.Framed))
		return next(ctx, request, response)
	}
}

// firstThatListens dials one address after the other, whichever was asked for.
type firstThatListens struct {
	remote.Dialer
	addresses []string
}

func (f firstThatListens) DialTimeout(network, _ string, timeout time.Duration) (conn net.Conn, err error) {
	for _, address := range f.addresses {
		if conn, err = f.Dialer.DialTimeout(network, address, timeout); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func within(timeout time.Duration) []callopt.Option {
	if timeout == 0 {
		return nil
	}
	return []callopt.Option{callopt.WithRPCTimeout(timeout)}
}

func (c *calls) inThrift(ctx context.Context, sleepMs int64, business int32, text string, timeout time.Duration) (*seen, error) {
	got, err := c.thrift.Look(ctx, &hop.Ask{SleepMs: sleepMs, Business: business, Text: text}, within(timeout)...)
	if err != nil {
		return nil, err
	}
	return &seen{got.Transient, got.Persistent, got.LeftMs, got.GivenUp, got.Text}, nil
}

func (c *calls) inProtobuf(ctx context.Context, sleepMs int64, business int32, text string, timeout time.Duration) (*seen, error) {
	got, err := c.protobuf.Look(ctx, &hoppb.Ask{SleepMs: sleepMs, Business: business, Text: text}, within(timeout)...)
	if err != nil {
		return nil, err
	}
	return &seen{got.Transient, got.Persistent, got.LeftMs, got.GivenUp, got.Text}, nil
}
