import {createServer, type Server} from 'node:net';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {discoverEndpoint} from '../../../src/cli/settings/discover-endpoint.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let folder: string;
const servers: Server[] = [];
beforeEach(async () => {
  folder = await temporaryDirectory();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(name: string): Promise<string> {
  const path = join(folder, name);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  servers.push(server);
  return `unix://${path}`;
}

test('the first socket with a listener is used', async () => {
  const [a, b] = [await listen('a'), await listen('b')];
  expect(await discoverEndpoint([`unix://${folder}/none`, a, b], folder)).toBe(a);
});

test('a socket whose owner has died is skipped', async () => {
  const {execFileSync} = await import('node:child_process');
  const deadSocket = join(folder, 'dead');
  const script = `require('net').createServer().listen(${JSON.stringify(deadSocket)}, () => process.kill(process.pid, 'SIGKILL'))`;
  expect(() => execFileSync(process.execPath, ['-e', script], {stdio: 'ignore'})).toThrow();
  const alive = await listen('alive');
  expect(await discoverEndpoint([`unix://${deadSocket}`, alive], folder)).toBe(alive);
});

test('if there is none, the error lists the searched sockets and how to start a runtime', async () => {
  await expect(discoverEndpoint([`unix://${folder}/none`], folder)).rejects.toMatchObject({
    message: `no container runtime found; looked for ${folder}/none`,
    hint: expect.stringContaining('kcri runtime up') as string,
  });
});
