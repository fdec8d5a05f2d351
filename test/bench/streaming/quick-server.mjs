// A web server for small responses with a long backlog, run in the network namespace of the pod. The backlog of
// busybox's server is nine connections, and further clients retry only after a second.
// Usage: quick-server.mjs PORT       (prints "ready" and exits at the end of its standard input)
import {createServer} from 'node:net';

const RESPONSE = 'HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nsmall\n';
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => socket.end(RESPONSE));
});
server.listen({host: '0.0.0.0', port: Number(process.argv[2]), backlog: 512}, () =>
  process.stdout.write('ready\n'),
);
process.stdin.resume().once('end', () => process.exit());
