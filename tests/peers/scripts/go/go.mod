module peer

go 1.18

require github.com/apache/thrift v0.17.0
