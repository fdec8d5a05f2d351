// Measures the event loop delay of the kubelet's servers while 50 connections send pipelined requests to a port, and
// updates docs/performance.md.
// Usage: npm run bench:event-loop [-- --connections=50] [--seconds=10]
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {request} from 'node:http';
import {connect} from 'node:net';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {connect as connectTls} from 'node:tls';
import {parseArgs} from 'node:util';
import {buildTestPrograms} from '../../scripts/build-test-programs.mjs';
import {writeSection} from './startup/report.mjs';

const {values} = parseArgs({
  options: {connections: {type: 'string', default: '50'}, seconds: {type: 'string', default: '10'}},
});
const REQUESTS = 20_000;
const PODS = 110;
const GOAL_MS = 200;
/** Port and path of each flood; the first row is without one. */
const FLOODS = [
  undefined,
  ['readOnly', '/metrics'],
  ['readOnly', '/pods'],
  ['health', '/healthz'],
  ['main', '/metrics'],
  ['main', '/pods'],
];

const directory = await mkdtemp(join(tmpdir(), 'kcri-event-loop-'));
const [program] = await buildTestPrograms('event-loop', ['bench/event-loop/server.ts']);
const server = fork(program, [JSON.stringify({directory, pods: PODS})]);
const [urls] = await once(server, 'message');
const rows = [];
for (const flood of FLOODS) rows.push(await measure(flood));
server.disconnect();
await rm(directory, {recursive: true});

const header = ['flood', 'delay p99', 'max', 'slowest health check', 'responses/s', 'memory'];
const table = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
const text = `Node.js ${process.version}, load ${loadavg()[0].toFixed(1)}:\n\n${table.join('\n')}\n`;
process.stdout.write(text);
writeSection('event-loop', text);

/** Floods a port, and returns a row of the table. */
async function measure(flood) {
  const sockets = flood === undefined ? [] : await openAll(urls[flood[0]]);
  let responses = 0;
  for (const socket of sockets) {
    socket.on('data', (chunk) => (responses += countResponses(chunk)));
    socket.write(`GET ${flood[1]} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(REQUESTS));
  }
  await sample();
  const end = performance.now() + Number(values.seconds) * 1000;
  let slowest = 0;
  while (performance.now() < end) {
    const startedAt = performance.now();
    await checkHealth();
    slowest = Math.max(slowest, performance.now() - startedAt);
    await delay(20);
  }
  const {p99, max, memory} = await sample();
  for (const socket of sockets) socket.destroy();
  const mark = p99 > GOAL_MS ? ` (> ${GOAL_MS})` : '';
  return [
    flood === undefined ? 'none' : `${flood[0]} \`${flood[1]}\``,
    `${p99.toFixed(0)} ms${mark}`,
    `${max.toFixed(0)} ms`,
    `${slowest.toFixed(0)} ms`,
    (responses / Number(values.seconds)).toFixed(0),
    `${memory.toFixed(0)} MB`,
  ];
}

async function sample() {
  server.send('sample');
  const [result] = await once(server, 'message');
  return result;
}

async function openAll(url) {
  const {protocol, hostname, port} = new URL(url);
  return await Promise.all(
    Array.from({length: Number(values.connections)}, async () => {
      const options = {host: hostname, port: Number(port), rejectUnauthorized: false};
      const socket = protocol === 'https:' ? connectTls(options) : connect(options);
      socket.on('error', () => undefined); // closed by the server or by this program
      await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect');
      return socket;
    }),
  );
}

/** Counts the status lines in a part of a response, and misses one that is split. */
function countResponses(chunk) {
  return chunk.toString('latin1').split('HTTP/1.1 200').length - 1;
}

async function checkHealth() {
  return await new Promise((resolve, reject) => {
    request(new URL('/healthz', urls.health), {agent: false}, (response) => {
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end();
  });
}
