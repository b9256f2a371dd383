// Echo on npm's thrift.
//
//   node main.mjs client HOST PORT binary|compact framed|buffered plain|multiplexed
//   node main.mjs server binary|compact framed|buffered plain|multiplexed
//
// The server chooses a port of 127.0.0.1 and prints it. Stands beside `node_modules` and `gen-nodejs`.
//
// Its compact protocol reads every bool of a list as false: readBool asks the number that readByte gave for its `.value`.
// So over compact no list of bools is sent to be read back.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const thrift = require("thrift");
const Echo = require("./gen-nodejs/Echo.js");
const types = require("./gen-nodejs/echo_types.js");

const [side, ...rest] = process.argv.slice(2);
const [host, port] = side === "client" ? rest.splice(0, 2) : ["127.0.0.1", 0];
const [protocol, transport, names] = rest;
const options = {
  protocol: { binary: thrift.TBinaryProtocol, compact: thrift.TCompactProtocol }[protocol],
  transport: { buffered: thrift.TBufferedTransport, framed: thrift.TFramedTransport }[transport],
};
if (side === "server") serve();
else await call();

function serve() {
  let pings = 0;
  const handler = {
    echo(req, result) {
      if (req.fail_code)
        result(new types.EchoError({ code: req.fail_code, message: `asked to fail: ${req.must}` }));
      else result(null, new types.EchoResponse({ request: req, server: "apache-node", pings }));
    },
    ping(note, result) {
      pings++;
      result?.(null);
    },
  };
  let server;
  if (names === "multiplexed") {
    const several = new thrift.MultiplexedProcessor();
    several.registerProcessor("Echo", new Echo.Processor(handler));
    server = thrift.createMultiplexServer(several, options);
  } else server = thrift.createServer(Echo, handler, options);
  server.listen(port, host, () => console.log(`listening ${host}:${server.address().port}`));
}

function requests() {
  const inner = () => new types.Inner({ id: -1, label: "in", weight: 5 });
  const bools = protocol === "compact" ? [] : [true, false, true];
  const request = (fields) => new types.EchoRequest({ must: "m", ...fields });
  return {
    full: request({ flag: true, tiny: -128, small: -32768, medium: -(2 ** 31), large: -(2 ** 52), real: -0.1,
      text: "h\u00e9llo \u4e16\u754c \u{1f980}", blob: Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
      words: ["a", "", "c".repeat(300)], ids: [1, -2, 3], counts: { x: 1, "": -1, "\u00fc": 2 ** 31 - 1 },
      inners: { 1: inner(), "-7": new types.Inner({ id: 2 }) }, color: types.Color.BLUE, inner: inner(),
      choice: new types.Choice({ inner: inner() }), must: "must", maybe: "", with_default: 0,
      inner_list: Array.from({ length: 20 }, (_, id) => new types.Inner({ id })), flags: bools,
      nested: { k: [1, -1, 2 ** 52], e: [] }, reals: [0, 1.5, -1e308, 5e-324], empty_map: {}, far: false }),
    minimal: request({ must: "" }),
    large: request({ blob: Buffer.alloc(1_000_000, 0xab) }),
    maxima: request({ tiny: 127, small: 32767, medium: 2 ** 31 - 1, large: 2 ** 52, real: Number.MAX_VALUE, far: true }),
    "union-int": request({ choice: new types.Choice({ number: 0 }) }),
    "union-list": request({ choice: new types.Choice({ numbers: [] }) }),
  };
}

// Without what is unset: default fields come back with their zero values. 64-bit numbers are objects.
function plain(request) {
  const number = (value) => (value && typeof value === "object" && "buffer" in value && "offset" in value
    && !Buffer.isBuffer(value) ? Number(value) : value);
  const walk = (value) => {
    value = number(value);
    if (Buffer.isBuffer(value)) return value.toString("hex");
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).filter(([, x]) => x !== null && x !== undefined)
      .map(([key, x]) => [key, key === "ids" ? [...x].sort() : walk(x)]));
  };
  return walk(request);
}

async function call() {
  const connection = thrift.createConnection(host, Number(port), options);
  connection.on("error", (e) => { console.log("FAIL", e.message); process.exit(1); });
  const client = names === "multiplexed"
    ? new thrift.Multiplexer().createClient("Echo", Echo, connection)
    : thrift.createClient(Echo, connection);
  let passed = 0, failed = 0, pings = 0;
  const check = async (name, fn) => {
    try {
      await fn();
      passed++;
      console.log(`ok   ${name}`);
    } catch (e) {
      failed++;
      console.log(`FAIL ${name} ${String(e.stack ?? e).slice(0, 600)}`);
    }
  };
  for (const [name, request] of Object.entries(requests()))
    await check(`echo ${name}`, async () => {
      const response = await client.echo(request);
      const [got, want] = [plain(response.request), plain(request)];
      for (const key of Object.keys(want)) assert.deepEqual(got[key], want[key], key);
      for (const key of ["inner", "choice", "maybe", "fail_code", "far"]) assert.deepEqual(got[key], want[key], key);
      pings = response.pings;
    });
  await check("declared exception", async () => {
    const e = await client.echo(new types.EchoRequest({ must: "m", fail_code: 7 })).then(() => ({}), (e) => e);
    assert.deepEqual([e.code, e.message], [7, "asked to fail: m"]);
  });
  await check("200 calls at once", async () => {
    const calls = Array.from({ length: 200 }, (_, i) => client.echo(new types.EchoRequest({ must: `${i}` })));
    const answers = await Promise.all(calls);
    assert.deepEqual(answers.map((r) => r.request.must), answers.map((_, i) => `${i}`));
  });
  await check("oneway ping", async () => {
    for (let i = 0; i < 3; i++) client.ping(`note ${i}`);
    const response = await client.echo(new types.EchoRequest({ must: "after" }));
    assert.equal(response.pings, pings + 3);
  });
  console.log(`${passed} passed, ${failed} failed`);
  connection.end();
  process.exit(failed ? 1 : 0);
}
