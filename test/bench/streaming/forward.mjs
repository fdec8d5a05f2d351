// port-forward: a long download, and many short requests.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect} from 'node:net';
import {BIG_MIB, MIB} from './runtime.mjs';

const REQUESTS = 500;
const CONCURRENCY = 20;

/** Downloads 1 GiB. */
export async function forwardDownload(tool, runtime) {
  return await withForwarder(tool, runtime, runtime.ports.busybox, async (forwarder) => {
    const seconds = await secondsOf(() => get(forwarder, '/big'));
    return {rate: BIG_MIB / seconds, cpuSeconds: forwarder.cpuSeconds()};
  });
}

/** Sends small requests sequentially, each over a new connection. */
export async function forwardSequential(tool, runtime) {
  return await requests(tool, runtime, runtime.ports.busybox, 1);
}

/**
 * Sends small requests concurrently. The backlog of busybox's server is nine connections: further clients retry only
 * after a second, and delay those that share a connection with them.
 */
export async function forwardConcurrent(tool, runtime) {
  return await requests(tool, runtime, runtime.ports.busybox, CONCURRENCY);
}

/** Sends small requests concurrently to a server with a longer backlog. */
export async function forwardConcurrentQuick(tool, runtime) {
  return await requests(tool, runtime, runtime.ports.quick, CONCURRENCY);
}

async function requests(tool, runtime, port, concurrency) {
  return await withForwarder(tool, runtime, port, async (forwarder) => {
    let left = REQUESTS;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        await get(forwarder, '/small');
      }
    };
    const seconds = await secondsOf(() => Promise.all(Array.from({length: concurrency}, work)));
    return {seconds, cpuSeconds: forwarder.cpuSeconds()};
  });
}

async function secondsOf(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Calls `use` with the local address of the forwarder. Its CPU time is counted from then on. */
async function withForwarder(tool, {env, ip}, port, use) {
  if (tool.forward === undefined) return await use({host: ip, port, cpuSeconds: () => 0});
  const [program, ...args] = tool.forward(port);
  const child = spawn(program, args, {env, stdio: ['ignore', 'pipe', 'inherit']});
  try {
    const local = await firstPort(child.stdout);
    child.stdout.resume();
    const before = processorSeconds(child.pid);
    const cpuSeconds = () => processorSeconds(child.pid) - before;
    return await use({host: '127.0.0.1', port: local, cpuSeconds});
  } finally {
    child.kill('SIGINT');
    await once(child, 'exit');
  }
}

async function firstPort(stdout) {
  let output = '';
  for (;;) {
    const [chunk] = await once(stdout, 'data');
    output += chunk;
    const match = /Forwarding from 127\.0\.0\.1:(\d+) ->/.exec(output);
    if (match !== null) return Number(match[1]);
  }
}

/** Returns the user and system time of a process in seconds. /proc counts in hundredths. */
function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Downloads a page. Like any HTTP client, it stops after Content-Length bytes and does not wait for the end of the
 * connection, which containerd delays by a second.
 */
async function get({host, port}, path) {
  let bytes = 0;
  let expected = Infinity;
  const onread = {
    buffer: Buffer.allocUnsafe(MIB / 4),
    callback: (length, buffer) => {
      if (expected === Infinity) expected = responseLength(buffer.toString('latin1', 0, length));
      bytes += length;
      if (bytes >= expected) socket.destroy();
      return true;
    },
  };
  const socket = connect({host, port, onread, noDelay: true});
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  await once(socket, 'close');
  if (bytes < expected) throw new Error(`${path}: ${bytes} bytes of ${expected}`);
}

/** Returns the length of headers and body. The headers are in the first chunk. */
function responseLength(start) {
  const headers = start.indexOf('\r\n\r\n') + 4;
  return headers + Number(/content-length: (\d+)/i.exec(start)[1]);
}
