import {once} from 'node:events';
import {readdirSync, readlinkSync} from 'node:fs';
import {symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../../../base/until.js';
import {dial} from '../../../e2e/harness/spdy-client.js';
import {startServerTestbed} from '../server-testbed.js';

/** Returns the target of a link; undefined if it does not exist. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

describe('system logs', () => {
  test('files and directory listings are served', async () => {
    const {request, directory} = await startServerTestbed();
    await writeFile(join(directory, 'log/a<b>.log'), '<script>\n');
    expect((await request('/logs/')).body).toContain('<a href="./a%3Cb%3E.log">a&lt;b&gt;.log</a>');
    const file = await request('/logs/a%3Cb%3E.log');
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
  ])('%s is not served', async (path) => {
    const {request, directory} = await startServerTestbed();
    await writeFile(join(directory, 'secret'), 'top secret');
    await symlink(join(directory, 'secret'), join(directory, 'log/link'));
    await symlink('..', join(directory, 'log/upwards'));
    const {status, body} = await request(path);
    expect([307, 400, 404]).toContain(status);
    expect(body).not.toContain('top secret');
  });

  test('a file is closed if the client disconnects', async () => {
    const {servers, directory} = await startServerTestbed();
    const path = join(directory, 'log/big.log');
    await writeFile(path, Buffer.alloc(32 * 1024 * 1024));
    const isOpen = (): boolean =>
      readdirSync('/proc/self/fd').some((fd) => linkTarget(`/proc/self/fd/${fd}`) === path);
    const socket = await dial(servers.urls.main ?? '');
    socket.write('GET /logs/big.log HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    expect(isOpen()).toBe(true);
    socket.destroy();
    await until(() => !isOpen());
  });

  test('only GET is allowed', async () => {
    const {request} = await startServerTestbed();
    expect((await request('/logs/', {method: 'HEAD'})).status).toBe(405);
  });

  test('the endpoint can be disabled', async () => {
    const {request} = await startServerTestbed({options: {systemLogHandler: false}});
    expect(await request('/logs/')).toMatchObject({status: 405, body: 'logs endpoint is disabled.\n'});
  });
});
