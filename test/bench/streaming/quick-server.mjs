// A web server for a few bytes that lets nobody wait, run in the network of the pod: busybox's own lets nine connections
// wait, and who comes then tries again only after a second.
// Usage: quick-server.mjs PORT       (says "ready" and ends with its standard input)
import {createServer} from 'node:net';

const ANSWER = 'HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nsmall\n';
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => socket.end(ANSWER));
});
server.listen({host: '0.0.0.0', port: Number(process.argv[2]), backlog: 512}, () =>
  process.stdout.write('ready\n'),
);
process.stdin.resume().once('end', () => process.exit());
