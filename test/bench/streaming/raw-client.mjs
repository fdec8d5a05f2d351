// The lower bound for exec: received data is not processed, and sent data comes from one buffer.
// Usage: raw-client.mjs stdout|stdin CONTAINER COMMAND…
import {request} from 'node:http';
import {connect as connectCri} from '../../../dist/cri/index.js';
import {dataHeader, HeaderEncoder, synStream} from '../../../dist/streaming/spdy/frames.js';
import {STDIN_MIB} from './exec.mjs';
import {MIB} from './runtime.mjs';

const [mode, containerId, ...cmd] = process.argv.slice(2);
const stdin = mode === 'stdin';
const cri = connectCri(process.env.CONTAINER_RUNTIME_ENDPOINT);
const {url} = await cri.runtime.exec({containerId, cmd, stdin, stdout: true, stderr: !stdin});
cri.close();
const socket = await upgradeConnection(url);
const encoder = new HeaderEncoder();
const types = ['error', ...(stdin ? ['stdin'] : []), 'stdout', ...(stdin ? [] : ['stderr'])];
types.forEach((streamtype, index) => socket.write(synStream(2 * index + 1, encoder.encode({streamtype}))));
socket.on('data', (chunk) => {
  if (!stdin) process.stdout.write(chunk);
});
socket.once('data', () => {
  if (stdin) sendInput();
});

function upgradeConnection(target) {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'SPDY/3.1',
    'X-Stream-Protocol-Version': 'v4.channel.k8s.io',
  };
  return new Promise((resolve, reject) => {
    const upgradeRequest = request(target, {method: 'POST', headers});
    upgradeRequest.once('error', reject);
    upgradeRequest.once('upgrade', (_response, socket) => resolve(socket));
    upgradeRequest.end();
  });
}

function sendInput() {
  const chunk = Buffer.alloc(MIB / 4);
  const frame = Buffer.concat([dataHeader(3, chunk.length, false), chunk]);
  let left = (STDIN_MIB * MIB) / chunk.length;
  const sendMore = () => {
    while (left > 0) {
      left -= 1;
      if (!socket.write(frame)) {
        socket.once('drain', sendMore);
        return;
      }
    }
    socket.write(dataHeader(3, 0, true));
  };
  sendMore();
}
