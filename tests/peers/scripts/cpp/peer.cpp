// Echo on Apache Thrift's C++ library.
//
//   peer client HOST PORT binary|compact framed|buffered plain|multiplexed
//   peer server binary|compact framed|buffered plain|multiplexed
//
// The server chooses a port of 127.0.0.1 and prints it.
#include "Echo.h"
#include <atomic>
#include <cstdint>
#include <iostream>
#include <limits>
#include <thrift/processor/TMultiplexedProcessor.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/protocol/TMultiplexedProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>
using namespace apache::thrift;
using std::make_shared;
using std::shared_ptr;

struct Handler : echo::EchoIf {
  std::atomic<int> pings{0};
  void echo(echo::EchoResponse& out, const echo::EchoRequest& req) override {
    if (req.__isset.fail_code && req.fail_code) {
      echo::EchoError err;
      err.code = req.fail_code;
      err.message = "asked to fail: " + req.must;
      throw err;
    }
    out.request = req;
    out.__set_server("apache-cpp");
    out.__set_pings(pings);
  }
  void ping(const std::string&) override { ++pings; }
};

struct Announce : server::TServerEventHandler {
  shared_ptr<transport::TServerSocket> socket;
  explicit Announce(shared_ptr<transport::TServerSocket> s) : socket(s) {}
  void preServe() override { std::cout << "listening 127.0.0.1:" << socket->getPort() << std::endl; }
};

static int passed, failed;
static void report(bool ok, const std::string& text) {
  ++(ok ? passed : failed);
  std::cout << (ok ? "ok   " : "FAIL ") << text << std::endl;
}

static std::vector<std::pair<std::string, echo::EchoRequest>> requests() {
  auto numbered = [](int id) { echo::Inner inner; inner.__set_id(id); return inner; };
  echo::Inner inner = numbered(-1);
  inner.__set_label("in");
  inner.__set_weight(int64_t(1) << 40);
  echo::Choice choice;
  choice.__set_inner(inner);
  std::string all, large(1000000, '\xab');
  for (int i = 0; i < 256; i++) all.push_back(char(i));
  std::vector<echo::Inner> list;
  for (int i = 0; i < 20; i++) list.push_back(numbered(i));
  echo::EchoRequest full, minimal;
  full.__set_flag(true);
  full.__set_tiny(INT8_MIN);
  full.__set_small(INT16_MIN);
  full.__set_medium(INT32_MIN);
  full.__set_large(INT64_MIN);
  full.__set_real(-0.1);
  full.__set_text("h\u00e9llo \u4e16\u754c \U0001f980");
  full.__set_blob(all);
  full.__set_words({"a", "", std::string(300, 'c')});
  full.__set_ids({1, -2, 3});
  full.__set_counts({{"x", 1}, {"", -1}, {"\u00fc", INT32_MAX}});
  full.__set_inners({{1, inner}, {-7, numbered(2)}});
  full.__set_color(echo::Color::BLUE);
  full.__set_inner(inner);
  full.__set_choice(choice);
  full.__set_must("must");
  full.__set_maybe("");
  full.__set_with_default(0);
  full.__set_inner_list(list);
  full.__set_flags({true, false, true});
  full.__set_nested({{"k", {1, -1, int64_t(1) << 62}}, {"e", {}}});
  full.__set_reals({0.0, 1.5, -1e308, 5e-324});
  full.__set_empty_map({});
  full.__set_far(false);
  minimal.__set_color(echo::Color::RED);
  echo::EchoRequest big = minimal, maxima = minimal, number = minimal, numbers = minimal;
  big.__set_blob(large);
  maxima.__set_tiny(INT8_MAX);
  maxima.__set_small(INT16_MAX);
  maxima.__set_medium(INT32_MAX);
  maxima.__set_large(INT64_MAX);
  maxima.__set_real(std::numeric_limits<double>::max());
  maxima.__set_far(true);
  echo::Choice of_number, of_numbers;
  of_number.__set_number(0);
  of_numbers.__set_numbers({});
  number.__set_choice(of_number);
  numbers.__set_choice(of_numbers);
  return {{"full", full}, {"minimal", minimal}, {"large", big}, {"maxima", maxima},
          {"union-int", number}, {"union-list", numbers}};
}

static void call(echo::EchoClient client) {
  int before = 0;
  for (auto& sent : requests()) {
    echo::EchoResponse response;
    client.echo(response, sent.second);
    report(response.request == sent.second, "echo " + sent.first);
    before = response.pings;
  }
  echo::EchoResponse response;
  echo::EchoRequest request;
  request.__set_must("m");
  for (int i = 0; i < 3; i++) client.ping("note " + std::to_string(i));
  client.echo(response, request);
  report(response.pings == before + 3, "oneway ping");
  request.__set_fail_code(7);
  try {
    client.echo(response, request);
    report(false, "declared exception: nothing thrown");
  } catch (const echo::EchoError& e) {
    report(e.code == 7 && e.message == "asked to fail: m", "declared exception: " + e.message);
  }
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
}

int main(int argc, char** argv) {
  if (argc != 5 && argc != 7)
    return std::cerr << "client HOST PORT|server binary|compact framed|buffered plain|multiplexed\n", 2;
  const std::string side = argv[1], proto = argv[argc - 3], trans = argv[argc - 2], names = argv[argc - 1];
  shared_ptr<protocol::TProtocolFactory> pf = make_shared<protocol::TBinaryProtocolFactory>();
  if (proto == "compact") pf = make_shared<protocol::TCompactProtocolFactory>();
  shared_ptr<transport::TTransportFactory> tf = make_shared<transport::TBufferedTransportFactory>();
  if (trans == "framed") tf = make_shared<transport::TFramedTransportFactory>();
  if (side == "server") {
    shared_ptr<TProcessor> processor = make_shared<echo::EchoProcessor>(make_shared<Handler>());
    if (names == "multiplexed") {
      auto several = make_shared<TMultiplexedProcessor>();
      several->registerProcessor("Echo", processor);
      processor = several;
    }
    auto socket = make_shared<transport::TServerSocket>("127.0.0.1", 0);
    server::TThreadedServer server(processor, socket, tf, pf);
    server.setServerEventHandler(make_shared<Announce>(socket));
    server.serve();
    return 0;
  }
  auto socket = make_shared<transport::TSocket>(argv[2], atoi(argv[3]));
  socket->setRecvTimeout(30000);
  auto transport = tf->getTransport(socket);
  transport->open();
  auto protocol = pf->getProtocol(transport);
  if (names == "multiplexed") protocol = make_shared<protocol::TMultiplexedProtocol>(protocol, "Echo");
  call(echo::EchoClient(protocol));
  transport->close();
  return failed ? 1 : 0;
}
