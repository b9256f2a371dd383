// hop.thrift and hop.proto on Kitex.
//
//	peer server thrift|protobuf WAY
//	peer client thrift|protobuf WAY HOST:PORT
//	peer load thrift|protobuf WAY HOST:PORT HOST:PORT
//
// WAY is buffered, framed, ttheader (a bare payload), ttheader-framed or mux. The server chooses a port of 127.0.0.1 and prints
// it; at the line `stop` on its input it stops gracefully. The client makes all calls and counts what was as it should be. For
// the load see load.go.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/cloudwego/kitex/pkg/klog"
)

func usage() {
	fmt.Println("server|client|load thrift|protobuf buffered|framed|ttheader|ttheader-framed|mux [HOST:PORT...]")
	os.Exit(2)
}

func main() {
	if len(os.Args) < 4 {
		usage()
	}
	klog.SetLevel(klog.LevelFatal)
	how := way{codec: os.Args[2], transport: os.Args[3]}
	switch addresses := os.Args[4:]; {
	case os.Args[1] == "server" && len(addresses) == 0:
		serve(how)
	case os.Args[1] == "client" && len(addresses) == 1:
		callAll(how, dialled(how, addresses))
	case os.Args[1] == "load" && len(addresses) == 2:
		load(dialled(how, addresses))
	default:
		usage()
	}
}

// way says how messages travel.
type way struct{ codec, transport string }

func (w way) protobuf() bool { return w.codec == "protobuf" }

// carries says whether there is a header, for all that a message has no place for.
func (w way) carries() bool { return w.transport != "buffered" && w.transport != "framed" }

func must(err error) {
	if err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
}

// lines are those of the input.
func lines() <-chan string {
	read := make(chan string)
	go func() {
		defer close(read)
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			read <- input.Text()
		}
	}()
	return read
}
