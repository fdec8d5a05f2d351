import {once} from 'node:events';
import {readdirSync, readlinkSync} from 'node:fs';
import {symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {dial} from '../../e2e/harness/spdy-client.js';
import {startGround} from './server-ground.js';

/** Where a link leads, unless it is gone by now. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

describe('logs of the node', () => {
  test('are files and lists of files', async () => {
    const {ask, directory} = await startGround();
    await writeFile(join(directory, 'log/a<b>.log'), '<script>\n');
    expect((await ask('/logs/')).body).toContain('<a href="./a%3Cb%3E.log">a&lt;b&gt;.log</a>');
    const file = await ask('/logs/a%3Cb%3E.log');
    expect(file).toMatchObject({status: 200, body: '<script>\n'});
    expect(file.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  test.each([
    '/logs/../secret',
    '/logs/%2e%2e/secret',
    '/logs/..%2fsecret',
    '/logs/%2e%2e%2fsecret',
    '/logs/link',
    '/logs/upwards/secret',
    '/logs/a%00b',
    '/logs//secret',
  ])('%s leads nowhere', async (path) => {
    const {ask, directory} = await startGround();
    await writeFile(join(directory, 'secret'), 'top secret');
    await symlink(join(directory, 'secret'), join(directory, 'log/link'));
    await symlink('..', join(directory, 'log/upwards'));
    const {status, body} = await ask(path);
    expect([400, 404]).toContain(status);
    expect(body).not.toContain('secret');
  });

  test('that nobody reads to the end are not kept open', async () => {
    const {servers, directory} = await startGround();
    const path = join(directory, 'log/big.log');
    await writeFile(path, Buffer.alloc(32 * 1024 * 1024));
    const isOpen = (): boolean =>
      readdirSync('/proc/self/fd').some((fd) => linkOf(`/proc/self/fd/${fd}`) === path);
    const socket = await dial(servers.urls.main ?? '');
    socket.write('GET /logs/big.log HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    expect(isOpen()).toBe(true);
    socket.destroy();
    await until(() => !isOpen());
  });

  test('are only read', async () => {
    const {ask} = await startGround();
    expect((await ask('/logs/', {method: 'HEAD'})).status).toBe(405);
  });

  test('can be switched off', async () => {
    const {ask} = await startGround({options: {systemLogHandler: false}});
    expect(await ask('/logs/')).toMatchObject({status: 405, body: 'logs endpoint is disabled.\n'});
  });
});
