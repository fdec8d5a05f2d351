// Relay that passes bytes on and reads nothing: the least that a relay in Node.js adds. Usage: bare-relay.mjs TARGET LISTEN
import {connect, createServer} from 'node:net';

const [target, listen] = process.argv.slice(2);
createServer((client) => {
  const server = connect(target);
  client.on('data', (chunk) => server.write(chunk)).on('close', () => server.destroy());
  server.on('data', (chunk) => client.write(chunk)).on('close', () => client.destroy());
  for (const socket of [client, server]) socket.on('error', () => undefined); // it closes, too
}).listen(listen, () => process.stderr.write('recording\n'));
