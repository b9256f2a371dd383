package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	callers = 16
	// each is how many calls are made before the load says so, and again after the server is gone.
	each = 2000
)

// load makes many calls at once while one server goes and another comes in its place. It says `calling` when it has made
// enough of them, is told `stopping` before the first server begins to stop and `stopped` after it is gone, makes as many
// calls again, and says what failed, with the word that was true when the call began.
func load(c *calls) {
	var phase, made, done int32
	var failures sync.Map
	var all sync.WaitGroup
	words := []string{"before", "stopping", "stopped"}
	for i := 0; i < callers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				began := atomic.LoadInt32(&phase)
				_, err := c.look(context.Background(), 0, 0, "load", 0)
				number := atomic.AddInt32(&made, 1)
				if err != nil {
					failures.Store(number, fmt.Sprintf("failed, begun %s: %v", words[began], err))
				}
				if began == 0 && number == each {
					fmt.Println("calling")
				}
				if began == 2 && atomic.AddInt32(&done, 1) >= each {
					return
				}
			}
		}()
	}
	for line := range lines() {
		switch line {
		case words[1]:
			atomic.StoreInt32(&phase, 1)
		case words[2]:
			atomic.StoreInt32(&phase, 2)
			all.Wait()
			count := 0
			failures.Range(func(_, failure interface{}) bool {
				fmt.Println(failure)
				count++
				return true
			})
			fmt.Printf("%d calls, %d failed\n", made, count)
			return
		}
	}
}
