//go:build tools

package main

import _ "github.com/cloudwego/kitex/tool/cmd/kitex" // so that go.sum holds what the generator is made of
