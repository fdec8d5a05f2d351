import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createServer, type AddressInfo} from 'node:net';
import {expect, test} from 'vitest';
import {findPortOwner, parseListeningSockets} from '../../../src/base/host/find-port-owner.js';

const TCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000 100 0 0 10 0
`;
const TCP6 = `  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 815 1
`;

test('listening sockets are those in the state of listening, over both protocols', () => {
  expect(parseListeningSockets(TCP, TCP6, 'torn')).toEqual([
    {port: 8080, inode: '4711'},
    {port: 22, inode: '815'},
  ]);
});

test('the owner of a port is another process, this one or nobody', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  expect(await findPortOwner(port)).toMatchObject({pid: process.pid});
  server.close();
  await once(server, 'close');
  expect(await findPortOwner(port)).toBeUndefined();

  const script = `const s = require('net').createServer().listen(0, '::1', () => console.log(s.address().port))`;
  const other = spawn(process.execPath, ['-e', script], {stdio: ['ignore', 'pipe', 'inherit']});
  const [line] = (await once(other.stdout, 'data')) as [Buffer];
  expect(await findPortOwner(Number(line))).toEqual({pid: other.pid, name: 'node'});
  other.kill('SIGKILL');
  await once(other, 'exit');
});
