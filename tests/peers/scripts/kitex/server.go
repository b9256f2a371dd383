package main

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/server"

	"peer/kitex_gen/echo"
	"peer/kitex_gen/hop"
	thrifthop "peer/kitex_gen/hop/hop"
	"peer/kitex_gen/hoppb"
	protohop "peer/kitex_gen/hoppb/hop"
)

const name = "kitex"

func serve(how way) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	options := []server.Option{
		server.WithListener(listener),
		server.WithMetaHandler(transmeta.ServerTTHeaderHandler),
		server.WithEnableContextTimeout(true),
	}
	if how.transport == "mux" {
		options = append(options, server.WithMuxTransport())
	}
	looking := &looking{address: listener.Addr().String()}
	var running server.Server
	if how.protobuf() {
		running = protohop.NewServer(&inProtobuf{looking}, options...)
	} else {
		running = thrifthop.NewServer(&inThrift{looking: looking}, options...)
	}
	stopped := make(chan error)
	go func() {
		for line := range lines() {
			if line == "stop" {
				stopped <- running.Stop()
				return
			}
		}
	}()
	// Others may connect from now on: they wait in the listener's queue.
	fmt.Println("listening", looking.address)
	must(running.Run())
	must(<-stopped)
	fmt.Println("stopped")
}

// looking tells what it sees of calls.
type looking struct {
	address string
	givenUp int32
}

// seen is the same in both codecs.
type seen struct {
	transient, persistent map[string]string
	leftMs                int64
	givenUp               int32
	text                  string
}

func (l *looking) look(ctx context.Context, sleepMs int64, business int32, text string) (*seen, error) {
	metainfo.SendBackwardValue(ctx, "back", "for "+text)
	if business != 0 {
		return nil, kerrors.NewBizStatusErrorWithExtra(business, "no: "+text, map[string]string{"why": "asked"})
	}
	if sleepMs > 0 {
		select {
		case <-time.After(time.Duration(sleepMs) * time.Millisecond):
		case <-ctx.Done():
			atomic.AddInt32(&l.givenUp, 1)
			return nil, ctx.Err()
		}
	}
	return &seen{
		transient:  metainfo.GetAllValues(ctx),
		persistent: metainfo.GetAllPersistentValues(ctx),
		leftMs:     rpcinfo.GetRPCInfo(ctx).Config().RPCTimeout().Milliseconds(),
		givenUp:    atomic.LoadInt32(&l.givenUp),
		text:       text + " at " + l.address,
	}, nil
}

type inThrift struct {
	*looking
	pings int32
}

func (h *inThrift) Echo(_ context.Context, request *echo.EchoRequest) (*echo.EchoResponse, error) {
	if request.GetFailCode() != 0 {
		return nil, &echo.EchoError{Code: request.GetFailCode(), Message: "asked to fail: " + request.Must}
	}
	return &echo.EchoResponse{Request: request, Server: name, Pings: atomic.LoadInt32(&h.pings)}, nil
}

func (h *inThrift) Ping(context.Context, string) error {
	atomic.AddInt32(&h.pings, 1)
	return nil
}

func (h *inThrift) Look(ctx context.Context, ask *hop.Ask) (*hop.Seen, error) {
	seen, err := h.look(ctx, ask.SleepMs, ask.Business, ask.Text)
	if err != nil {
		return nil, err
	}
	return &hop.Seen{Transient: seen.transient, Persistent: seen.persistent, LeftMs: seen.leftMs,
		GivenUp: seen.givenUp, Text: seen.text}, nil
}

type inProtobuf struct{ *looking }

func (h *inProtobuf) Echo(_ context.Context, request *hoppb.EchoRequest) (*hoppb.EchoResponse, error) {
	return &hoppb.EchoResponse{Request: request, Server: name}, nil
}

func (h *inProtobuf) Look(ctx context.Context, ask *hoppb.Ask) (*hoppb.Seen, error) {
	seen, err := h.look(ctx, ask.SleepMs, ask.Business, ask.Text)
	if err != nil {
		return nil, err
	}
	return &hoppb.Seen{Transient: seen.transient, Persistent: seen.persistent, LeftMs: seen.leftMs,
		GivenUp: seen.givenUp, Text: seen.text}, nil
}
