// Echo on Apache Thrift's Java library.
//
//   Peer client HOST PORT binary|compact framed|buffered plain|multiplexed
//   Peer server binary|compact framed|buffered plain|multiplexed
//
// The server chooses a port of 127.0.0.1 and prints it.
import echo.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.*;
import org.apache.thrift.protocol.*;
import org.apache.thrift.server.*;
import org.apache.thrift.transport.*;
import org.apache.thrift.transport.layered.TFramedTransport;

public class Peer {
  static int passed, failed;

  static class Handler implements Echo.Iface {
    final AtomicInteger pings = new AtomicInteger();

    public EchoResponse echo(EchoRequest req) throws EchoError {
      if (req.isSetFail_code() && req.getFail_code() != 0)
        throw new EchoError(req.getFail_code(), "asked to fail: " + req.getMust());
      return new EchoResponse().setRequest(req).setServer("apache-java").setPings(pings.get());
    }

    public void ping(String note) {
      pings.incrementAndGet();
    }
  }

  static void report(boolean ok, String text) {
    if (ok) passed++; else failed++;
    System.out.println((ok ? "ok   " : "FAIL ") + text);
  }

  static Map<String, EchoRequest> requests() {
    Inner inner = new Inner().setId(-1).setLabel("in").setWeight(1L << 40);
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) all[i] = (byte) i;
    List<Inner> list = new ArrayList<>();
    for (int i = 0; i < 20; i++) list.add(new Inner().setId(i));
    byte[] large = new byte[1_000_000];
    Arrays.fill(large, (byte) 0xab);
    Map<String, EchoRequest> named = new LinkedHashMap<>();
    named.put("full", new EchoRequest().setFlag(true).setTiny((byte) -128).setSmall(Short.MIN_VALUE)
        .setMedium(Integer.MIN_VALUE).setLarge(Long.MIN_VALUE).setReal(-0.1)
        .setText("h\u00e9llo \u4e16\u754c \ud83e\udd80").setBlob(ByteBuffer.wrap(all))
        .setWords(List.of("a", "", "c".repeat(300))).setIds(Set.of(1, -2, 3))
        .setCounts(Map.of("x", 1, "", -1, "\u00fc", Integer.MAX_VALUE))
        .setInners(Map.of(1, inner, -7, new Inner().setId(2))).setColor(Color.BLUE).setInner(inner)
        .setChoice(Choice.inner(inner)).setMust("must").setMaybe("").setWith_default(0).setInner_list(list)
        .setFlags(List.of(true, false, true)).setNested(Map.of("k", List.of(1L, -1L, 1L << 62), "e", List.of()))
        .setReals(List.of(0.0, 1.5, -1e308, 5e-324)).setEmpty_map(Map.of()).setFar(false));
    named.put("minimal", new EchoRequest().setMust(""));
    named.put("large", new EchoRequest().setMust("big").setBlob(ByteBuffer.wrap(large)));
    named.put("maxima", new EchoRequest().setMust("m").setTiny(Byte.MAX_VALUE).setSmall(Short.MAX_VALUE)
        .setMedium(Integer.MAX_VALUE).setLarge(Long.MAX_VALUE).setReal(Double.MAX_VALUE).setFar(true));
    named.put("union-int", new EchoRequest().setMust("u").setChoice(Choice.number(0)));
    named.put("union-list", new EchoRequest().setMust("u").setChoice(Choice.numbers(List.of())));
    return named;
  }

  // What was left unset, and is not optional, comes back with its type's zero value.
  static boolean same(EchoRequest got, EchoRequest want) {
    EchoRequest alike = new EchoRequest(got);
    for (EchoRequest._Fields field : EchoRequest.metaDataMap.keySet())
      if (!want.isSet(field) && EchoRequest.metaDataMap.get(field).requirementType == TFieldRequirementType.DEFAULT) {
        Object zero = alike.getFieldValue(field);
        boolean empty = Objects.equals(zero, want.getFieldValue(field)) || zero.equals(false) || zero instanceof Color
            || (zero instanceof Number && ((Number) zero).doubleValue() == 0)
            || (zero instanceof String && ((String) zero).isEmpty()) || (zero instanceof byte[] && ((byte[]) zero).length == 0)
            || (zero instanceof ByteBuffer && !((ByteBuffer) zero).hasRemaining())
            || (zero instanceof Collection && ((Collection<?>) zero).isEmpty())
            || (zero instanceof Map && ((Map<?, ?>) zero).isEmpty());
        if (!empty) return false;
        alike.setFieldValue(field, null);
      }
    return alike.equals(want);
  }

  static void serve(TProtocolFactory pf, boolean framed, boolean multiplexed) throws Exception {
    ServerSocket socket = new ServerSocket(0, 64, InetAddress.getByName("127.0.0.1"));
    TProcessor processor = new Echo.Processor<>(new Handler());
    if (multiplexed) {
      TMultiplexedProcessor several = new TMultiplexedProcessor();
      several.registerProcessor("Echo", processor);
      processor = several;
    }
    TThreadPoolServer.Args args = new TThreadPoolServer.Args(
        new TServerSocket(new TServerSocket.ServerSocketTransportArgs().serverSocket(socket)))
        .processor(processor).protocolFactory(pf);
    if (framed) args.transportFactory(new TFramedTransport.Factory());
    System.out.println("listening 127.0.0.1:" + socket.getLocalPort());
    new TThreadPoolServer(args).serve();
  }

  public static void main(String[] args) throws Exception {
    int first = args.length - 3;
    TProtocolFactory pf = args[first].equals("compact") ? new TCompactProtocol.Factory() : new TBinaryProtocol.Factory();
    boolean framed = args[first + 1].equals("framed"), multiplexed = args[first + 2].equals("multiplexed");
    if (args[0].equals("server")) {
      serve(pf, framed, multiplexed);
      return;
    }
    TTransport transport = new TSocket(args[1], Integer.parseInt(args[2]), 30_000);
    if (framed) transport = new TFramedTransport(transport);
    transport.open();
    TProtocol protocol = pf.getProtocol(transport);
    Echo.Client client = new Echo.Client(multiplexed ? new TMultiplexedProtocol(protocol, "Echo") : protocol);
    int before = 0;
    for (Map.Entry<String, EchoRequest> sent : requests().entrySet()) {
      EchoResponse response = client.echo(sent.getValue());
      report(same(response.getRequest(), sent.getValue()), "echo " + sent.getKey());
      before = response.getPings();
    }
    try {
      client.echo(new EchoRequest().setMust("m").setFail_code(7));
      report(false, "declared exception: nothing thrown");
    } catch (EchoError e) {
      report(e.getCode() == 7 && e.message.equals("asked to fail: m"), "declared exception: " + e.message);
    }
    for (int i = 0; i < 3; i++) client.ping("note " + i);
    report(client.echo(new EchoRequest().setMust("m")).getPings() == before + 3, "oneway ping");
    transport.close();
    System.out.println(passed + " passed, " + failed + " failed");
    System.exit(failed > 0 ? 1 : 0);
  }
}
