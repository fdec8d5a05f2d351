// port-forward: a long download, and many short requests.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect} from 'node:net';
import {BIG_MIB, MIB} from './runtime.mjs';

const REQUESTS = 500;
const AT_ONCE = 20;

/** One download of 1 GiB. */
export async function forwardDownload(tool, runtime) {
  return await withForwarder(tool, runtime, runtime.ports.busybox, async (forwarder) => {
    const seconds = await secondsOf(() => get(forwarder, '/big'));
    return {rate: BIG_MIB / seconds, cpuSeconds: forwarder.cpuSeconds()};
  });
}

/** Requests for a few bytes, each over a new connection, one after the other. */
export async function forwardInTurn(tool, runtime) {
  return await requests(tool, runtime, runtime.ports.busybox, 1);
}

/**
 * The same, some at a time. Busybox's server lets nine connections wait: who comes then tries again only after a
 * second, and holds up whoever shares a connection with it.
 */
export async function forwardAtOnce(tool, runtime) {
  return await requests(tool, runtime, runtime.ports.busybox, AT_ONCE);
}

/** The same with a server that lets nobody wait. */
export async function forwardAtOnceQuick(tool, runtime) {
  return await requests(tool, runtime, runtime.ports.quick, AT_ONCE);
}

async function requests(tool, runtime, port, atOnce) {
  return await withForwarder(tool, runtime, port, async (forwarder) => {
    let left = REQUESTS;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        await get(forwarder, '/small');
      }
    };
    const seconds = await secondsOf(() => Promise.all(Array.from({length: atOnce}, work)));
    return {seconds, cpuSeconds: forwarder.cpuSeconds()};
  });
}

async function secondsOf(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Calls `use` with where the tool listens. The processor time is what it has taken since it began to. */
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
  let said = '';
  for (;;) {
    const [chunk] = await once(stdout, 'data');
    said += chunk;
    const match = /Forwarding from 127\.0\.0\.1:(\d+) ->/.exec(said);
    if (match !== null) return Number(match[1]);
  }
}

/** User and system time of a process, in the hundredths of a second that /proc has. */
function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * The length of what the server answers, by the length that it names: as any HTTP client, it does not wait for
 * the connection's end, which containerd holds back for a second.
 */
async function get({host, port}, path) {
  let bytes = 0;
  let wanted = Infinity;
  const onread = {
    buffer: Buffer.allocUnsafe(MIB / 4),
    callback: (length, buffer) => {
      if (wanted === Infinity) wanted = answerLength(buffer.toString('latin1', 0, length));
      bytes += length;
      if (bytes >= wanted) socket.destroy();
      return true;
    },
  };
  const socket = connect({host, port, onread, noDelay: true});
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  await once(socket, 'close');
  if (bytes < wanted) throw new Error(`${path}: ${bytes} bytes of ${wanted}`);
}

/** Of headers and body together; the headers come in one piece. */
function answerLength(start) {
  const headers = start.indexOf('\r\n\r\n') + 4;
  return headers + Number(/content-length: (\d+)/i.exec(start)[1]);
}
