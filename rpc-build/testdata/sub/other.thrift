include '../shared.thrift'
service Base { shared.Point base(1: shared.Point p) }
