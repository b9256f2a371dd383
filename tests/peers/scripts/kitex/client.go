package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/remote"

	"peer/kitex_gen/echo"
	"peer/kitex_gen/hoppb"
)

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

// callAll makes each call that the way can carry.
func callAll(how way, c *calls) {
	ctx := context.Background()
	if how.protobuf() {
		protobufCalls(ctx, c)
	} else {
		thriftCalls(ctx, c)
	}
	unknown := c.other("Hop", "nothing")
	var application *remote.TransError
	report(errors.As(unknown, &application) && application.TypeID() == remote.UnknownMethod, "unknown method: %v", unknown)
	_, err := c.look(ctx, 60_000, 0, "", 100*time.Millisecond)
	// Where the server knows the deadline it may be the first to say that it passed.
	told := how.carries() && errors.As(err, &application) && application.TypeID() == remote.InternalError
	report(errors.Is(err, kerrors.ErrRPCTimeout) || told, "deadline: %v", err)
	if how.carries() {
		headerCalls(ctx, how, c)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// headerCalls need the header.
func headerCalls(ctx context.Context, how way, c *calls) {
	got, err := c.look(ctx, 0, 0, "", time.Minute)
	report(err == nil && got.leftMs > 50_000 && got.leftMs <= 60_000, "deadline, carried: %v %v", got, err)
	// The call before the last was given up by the server at its deadline, if not at that very moment.
	got, err = c.look(ctx, 0, 0, "", 0)
	for i := 0; i < 10_000 && err == nil && got.givenUp == 0; i++ {
		got, err = c.look(ctx, 0, 0, "", 0)
	}
	report(err == nil && got.givenUp == 1 && got.leftMs == 0, "deadline, kept by the server: %v %v", got, err)

	_, err = c.look(ctx, 0, 404, "text", 0)
	business, ok := kerrors.FromBizStatusError(err)
	report(ok && business.BizStatusCode() == 404 && business.BizMessage() == "no: text" &&
		reflect.DeepEqual(business.BizExtra(), map[string]string{"why": "asked"}), "business error: %v", err)

	forth := metainfo.WithPersistentValue(metainfo.WithValue(ctx, "hop", "täglich"), "Chain_of-it", "far")
	got, err = c.look(forth, 0, 0, "", 0)
	report(err == nil && reflect.DeepEqual(got.transient, map[string]string{"hop": "täglich"}) &&
		reflect.DeepEqual(got.persistent, map[string]string{"Chain_of-it": "far"}), "metainfo forward: %v %v", got, err)

	back := metainfo.WithBackwardValues(ctx)
	_, err = c.look(back, 0, 0, "me", 0)
	value, ok := metainfo.RecvBackwardValue(back, "back")
	report(err == nil && ok && value == "for me", "metainfo backward: %v %v", metainfo.GetAllBackwardValues(back), err)

	look := "look"
	if how.protobuf() {
		look = "Look"
	}
	err = c.other("Elsewhere", look)
	report(err == nil, "a service of another name that has the method: %v", err)
}

func thriftCalls(ctx context.Context, c *calls) {
	for _, sent := range thriftRequests() {
		response, err := c.thrift.Echo(ctx, sent.request)
		report(err == nil && reflect.DeepEqual(alike(response.Request), alike(sent.request)), "echo %s: %v", sent.name, err)
	}
	code := int32(7)
	failing := echo.NewEchoRequest()
	failing.Must, failing.FailCode = "m", &code
	_, err := c.thrift.Echo(ctx, failing)
	declared, ok := err.(*echo.EchoError)
	report(ok && declared.Code == 7 && declared.Message == "asked to fail: m", "declared exception: %v", err)

	before, err := c.thrift.Echo(ctx, echo.NewEchoRequest())
	must(err)
	for i := 0; i < 3; i++ {
		must(c.thrift.Ping(ctx, fmt.Sprint("note ", i)))
	}
	after := before
	for i := 0; i < 10_000 && err == nil && after.Pings < before.Pings+3; i++ {
		after, err = c.thrift.Echo(ctx, echo.NewEchoRequest())
	}
	report(err == nil && after.Pings == before.Pings+3, "oneway: %v", err)
}

func protobufCalls(ctx context.Context, c *calls) {
	for _, sent := range protobufRequests() {
		response, err := c.protobuf.Echo(ctx, sent.request)
		report(err == nil && reflect.DeepEqual(response.Request, sent.request), "echo %s: %v", sent.name, err)
	}
}

type named[T any] struct {
	name    string
	request T
}

func allBytes() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func thriftRequests() []named[*echo.EchoRequest] {
	label, maybe, far, yes, zero := "in", "", false, true, int32(0)
	inner := &echo.Inner{Id: -1, Label: &label, Weight: 1 << 40}
	list := make([]*echo.Inner, 20)
	for i := range list {
		list[i] = &echo.Inner{Id: int32(i), Weight: 7}
	}
	full := &echo.EchoRequest{Flag: true, Tiny: math.MinInt8, Small: math.MinInt16, Medium: math.MinInt32,
		Large: math.MinInt64, Real: -0.1, Text: "h\u00e9llo \u4e16\u754c \U0001f980", Blob: allBytes(),
		Words: []string{"a", "", strings.Repeat("c", 300)}, Ids: []int32{-2, 1, 3},
		Counts: map[string]int32{"x": 1, "": -1, "\u00fc": math.MaxInt32},
		Inners: map[int32]*echo.Inner{1: inner, -7: {Id: 2, Weight: 7}}, Color: echo.Color_BLUE, Inner: inner,
		Choice: &echo.Choice{Inner: inner}, Must: "must", Maybe: &maybe, WithDefault: 0, InnerList: list,
		Flags: []bool{true, false, true}, Nested: map[string][]int64{"k": {1, -1, 1 << 62}, "e": {}},
		Reals: []float64{0, 1.5, -1e308, 5e-324}, EmptyMap: map[string]string{}, Far: &far}
	with := func(change func(*echo.EchoRequest)) *echo.EchoRequest {
		request := echo.NewEchoRequest()
		request.Color = echo.Color_RED
		change(request)
		return request
	}
	return []named[*echo.EchoRequest]{
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

// alike puts a set in order and makes unset containers of empty ones, which is what comes back.
func alike(r *echo.EchoRequest) *echo.EchoRequest {
	same := *r
	same.Ids = append([]int32{}, r.Ids...)
	sort.Slice(same.Ids, func(i, j int) bool { return same.Ids[i] < same.Ids[j] })
	for _, field := range []interface{}{&same.Blob, &same.Words, &same.Ids, &same.Counts, &same.Inners, &same.InnerList,
		&same.Flags, &same.Nested, &same.Reals, &same.EmptyMap} {
		value := reflect.ValueOf(field).Elem()
		if value.Len() == 0 {
			value.Set(reflect.Zero(value.Type()))
		}
	}
	return &same
}

func protobufRequests() []named[*hoppb.EchoRequest] {
	label, maybe, far := "in", "", false
	inner := &hoppb.Inner{Id: -1, Label: &label, Weight: 1 << 40}
	list := make([]*hoppb.Inner, 20)
	for i := range list {
		list[i] = &hoppb.Inner{Id: int32(i), Weight: 7}
	}
	full := &hoppb.EchoRequest{Flag: true, Small: math.MinInt16, Medium: math.MinInt32, Large: math.MinInt64, Real: -0.1,
		Text: "h\u00e9llo \u4e16\u754c \U0001f980", Blob: allBytes(), Words: []string{"a", "", strings.Repeat("c", 300)},
		Ids: []int32{-2, 1, 3}, Counts: map[string]int32{"x": 1, "y": -1, "\u00fc": math.MaxInt32},
		Inners: map[int32]*hoppb.Inner{1: inner, -7: {Id: 2, Weight: 7}}, Color: hoppb.Color_BLUE, Inner: inner,
		Choice: &hoppb.EchoRequest_Other{Other: inner}, Maybe: &maybe, InnerList: list, Flags: []bool{true, false, true},
		Nested: map[string]*hoppb.Longs{"k": {Values: []int64{1, -1, 1 << 62}}},
		Reals:  []float64{0, 1.5, -1e308, 5e-324}, Half: 0.1, Natural: math.MaxUint64, Zigzag: math.MinInt64,
		Four: math.MaxUint32, Eight: math.MinInt64, Far: &far}
	return []named[*hoppb.EchoRequest]{
		{"full", full},
		{"empty", &hoppb.EchoRequest{}},
		{"large", &hoppb.EchoRequest{Blob: bytes.Repeat([]byte{0xab}, 1_000_000)}},
		{"maxima", &hoppb.EchoRequest{Small: math.MaxInt32, Medium: math.MaxInt32, Large: math.MaxInt64, Real: math.MaxFloat64,
			Half: math.MaxFloat32, Zigzag: math.MaxInt64, Eight: math.MaxInt64}},
		{"oneof-int", &hoppb.EchoRequest{Choice: &hoppb.EchoRequest_Number{Number: -1}}},
		{"oneof-empty", &hoppb.EchoRequest{Choice: &hoppb.EchoRequest_Longs{Longs: &hoppb.Longs{}}}},
	}
}
