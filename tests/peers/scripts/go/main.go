// Echo on Apache Thrift's Go library.
//
//	peer client HOST PORT binary|compact framed|buffered plain|multiplexed [oneway]
//	peer server binary|compact framed|buffered plain|multiplexed
//
// The server chooses a port of 127.0.0.1 and prints it. The client makes all calls but the oneway ones, or those alone. This
// library sends them with the message type of calls: only the IDL says that no answer comes.
package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"peer/echo"
)

type handler struct{ pings int32 }

func (h *handler) Echo(ctx context.Context, req *echo.EchoRequest) (*echo.EchoResponse, error) {
	if req.GetFailCode() != 0 {
		return nil, &echo.EchoError{Code: req.GetFailCode(), Message: "asked to fail: " + req.Must}
	}
	return &echo.EchoResponse{Request: req, Server: "apache-go", Pings: atomic.LoadInt32(&h.pings)}, nil
}

func (h *handler) Ping(ctx context.Context, note string) error {
	atomic.AddInt32(&h.pings, 1)
	return nil
}

func must(err error) {
	if err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
}

func serve(tf thrift.TTransportFactory, pf thrift.TProtocolFactory, multiplexed bool) {
	sock, err := thrift.NewTServerSocket("127.0.0.1:0")
	must(err)
	must(sock.Listen())
	var processor thrift.TProcessor = echo.NewEchoProcessor(&handler{})
	if multiplexed {
		several := thrift.NewTMultiplexedProcessor()
		several.RegisterProcessor("Echo", processor)
		processor = several
	}
	fmt.Println("listening", sock.Addr())
	must(thrift.NewTSimpleServer4(processor, sock, tf, pf).Serve())
}

type named struct {
	name    string
	request *echo.EchoRequest
}

func requests() []named {
	label, maybe, far, yes, zero := "in", "", false, true, int32(0)
	inner := &echo.Inner{ID: -1, Label: &label, Weight: 1 << 40}
	blob := make([]byte, 256)
	for i := range blob {
		blob[i] = byte(i)
	}
	list := make([]*echo.Inner, 20)
	for i := range list {
		list[i] = &echo.Inner{ID: int32(i), Weight: 7}
	}
	full := &echo.EchoRequest{Flag: true, Tiny: math.MinInt8, Small: math.MinInt16, Medium: math.MinInt32,
		Large: math.MinInt64, Real: -0.1, Text: "h\u00e9llo \u4e16\u754c \U0001f980", Blob: blob,
		Words: []string{"a", "", strings.Repeat("c", 300)}, Ids: []int32{-2, 1, 3},
		Counts: map[string]int32{"x": 1, "": -1, "\u00fc": math.MaxInt32},
		Inners: map[int32]*echo.Inner{1: inner, -7: {ID: 2, Weight: 7}}, Color: echo.Color_BLUE, Inner: inner,
		Choice: &echo.Choice{Inner: inner}, Must: "must", Maybe: &maybe, WithDefault: 0, InnerList: list,
		Flags: []bool{true, false, true}, Nested: map[string][]int64{"k": {1, -1, 1 << 62}, "e": {}},
		Reals: []float64{0, 1.5, -1e308, 5e-324}, EmptyMap: map[string]string{}, Far: &far}
	with := func(change func(*echo.EchoRequest)) *echo.EchoRequest {
		request := echo.NewEchoRequest()
		request.Color = echo.Color_RED
		change(request)
		return request
	}
	return []named{
		{"full", full},
		{"minimal", with(func(*echo.EchoRequest) {})},
		{"large", with(func(r *echo.EchoRequest) { r.Blob = bytes.Repeat([]byte{0xab}, 1_000_000) })},
		{"maxima", with(func(r *echo.EchoRequest) {
			r.Tiny, r.Small, r.Medium, r.Large = math.MaxInt8, math.MaxInt16, math.MaxInt32, math.MaxInt64
			r.Real, r.Far = math.MaxFloat64, &yes
		})},
		{"union-int", with(func(r *echo.EchoRequest) { r.Choice = &echo.Choice{Number: &zero} })},
		{"union-list", with(func(r *echo.EchoRequest) { r.Choice = &echo.Choice{Numbers: []int32{}} })},
	}
}

// A set has no order, and an unset container comes back empty.
func alike(r *echo.EchoRequest) *echo.EchoRequest {
	same := *r
	same.Ids = append([]int32{}, r.Ids...)
	sort.Slice(same.Ids, func(i, j int) bool { return same.Ids[i] < same.Ids[j] })
	for _, field := range []interface{}{&same.Blob, &same.Words, &same.Counts, &same.Inners, &same.InnerList,
		&same.Flags, &same.Nested, &same.Reals, &same.EmptyMap} {
		value := reflect.ValueOf(field).Elem()
		if value.Len() == 0 {
			value.Set(reflect.Zero(value.Type()))
		}
	}
	return &same
}

func main() {
	arguments := os.Args[1:]
	addr, calls := "", call
	if len(arguments) == 7 && arguments[6] == "oneway" {
		arguments, calls = arguments[:6], ping
	}
	if len(arguments) == 6 {
		addr = arguments[1] + ":" + arguments[2]
		arguments = arguments[2:]
	}
	if len(arguments) != 4 {
		fmt.Println("client HOST PORT|server binary|compact framed|buffered plain|multiplexed")
		os.Exit(2)
	}
	conf := &thrift.TConfiguration{SocketTimeout: 30 * time.Second}
	var pf thrift.TProtocolFactory = thrift.NewTBinaryProtocolFactoryConf(conf)
	if arguments[1] == "compact" {
		pf = thrift.NewTCompactProtocolFactoryConf(conf)
	}
	var tf thrift.TTransportFactory = thrift.NewTBufferedTransportFactory(8192)
	if arguments[2] == "framed" {
		tf = thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), conf)
	}
	multiplexed := arguments[3] == "multiplexed"
	if addr == "" {
		serve(tf, pf, multiplexed)
		return
	}
	trans, err := tf.GetTransport(thrift.NewTSocketConf(addr, conf))
	must(err)
	must(trans.Open())
	in, out := pf.GetProtocol(trans), pf.GetProtocol(trans)
	if multiplexed {
		out = thrift.NewTMultiplexedProtocol(out, "Echo")
	}
	calls(echo.NewEchoClient(thrift.NewTStandardClient(in, out)))
}

var passed, failed int

func report(ok bool, format string, args ...interface{}) {
	word := "ok  "
	if ok {
		passed++
	} else {
		failed++
		word = "FAIL"
	}
	fmt.Printf(word+" "+format+"\n", args...)
}

func end() {
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func call(client *echo.EchoClient) {
	ctx := context.Background()
	for _, sent := range requests() {
		response, err := client.Echo(ctx, sent.request)
		if err != nil {
			report(false, "echo %s: %v", sent.name, err)
			continue
		}
		report(reflect.DeepEqual(alike(response.Request), alike(sent.request)), "echo %s", sent.name)
	}
	code := int32(7)
	failing := echo.NewEchoRequest()
	failing.Must, failing.FailCode = "m", &code
	_, err := client.Echo(ctx, failing)
	declared, ok := err.(*echo.EchoError)
	report(ok && declared.Code == 7 && declared.Message == "asked to fail: m", "declared exception: %v", err)
	end()
}

func ping(client *echo.EchoClient) {
	ctx := context.Background()
	before, err := client.Echo(ctx, echo.NewEchoRequest())
	must(err)
	for i := 0; i < 3; i++ {
		must(client.Ping(ctx, fmt.Sprint("note ", i)))
	}
	after, err := client.Echo(ctx, echo.NewEchoRequest())
	report(err == nil && after.Pings == before.Pings+3, "oneway ping: %v", err)
	end()
}
