import {execFileSync} from 'node:child_process';
import {chmod, readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {ifPresent} from '../../../../../../src/base/fs/files.js';
import {parseFlexAnswer} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-answer.js';
import {FlexDrivers} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-drivers.js';
import {
  flexDirectory,
  flexExecutable,
} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-name.js';
import {until} from '../../../../../base/until.js';
import {aFlexNode, BOX} from './flex-node.js';
import {driverScript} from './flex-scripts.js';

const CAPABILITIES = {
  attach: true,
  selinuxRelabel: true,
  supportsMetrics: false,
  fsGroup: true,
  requiresFSResize: true,
};

test.each([
  ['{"status":"Success"}', {kind: 'success', device: '', capabilities: CAPABILITIES}],
  [
    '{"Status":"Success","Device":"/dev/x","capabilities":{"attach":false,"FSGroup":false,"other":1}}\n',
    {kind: 'success', device: '/dev/x', capabilities: {...CAPABILITIES, attach: false, fsGroup: false}},
  ],
  ['{"status":"Success","capabilities":null}', {kind: 'success', device: '', capabilities: CAPABILITIES}],
  ['{"status":"Not supported"}', {kind: 'unsupported'}],
  [
    '{"status":"Failure","message":"no space"}',
    {kind: 'failure', message: 'mount command failed, status: Failure, reason: no space'},
  ],
  ['{}', {kind: 'failure', message: 'mount command failed, status: , reason: '}],
  ['', {kind: 'invalid', message: 'unexpected end of JSON input'}],
  ['oops', {kind: 'invalid', message: "invalid character 'o' looking for beginning of value"}],
  [
    '{"status":"Success"} and more',
    {kind: 'invalid', message: "invalid character 'a' after top-level value"},
  ],
  ['[]', {kind: 'invalid', message: 'the answer is not an object'}],
  ['{"status":1}', {kind: 'invalid', message: 'the field status of the answer is not text'}],
  [
    '{"status":"Success","device":{}}',
    {kind: 'invalid', message: 'the field device of the answer is not text'},
  ],
  [
    '{"status":"Success","capabilities":{"attach":"no"}}',
    {kind: 'invalid', message: 'the capabilities of the answer are not true or false'},
  ],
  [
    '{"status":"Success","capabilities":[]}',
    {kind: 'invalid', message: 'the capabilities of the answer are not true or false'},
  ],
])('the answer %j of a driver is understood as by a kubelet', (output, answer) => {
  expect(parseFlexAnswer('mount', output)).toEqual(answer);
});

test.each([
  ['box', 'box', '/x/box/box'],
  ['example.com/box', 'example.com~box', '/x/example.com~box/box'],
  ['a/b/c', 'a~b~c', '/x/a~b~c/c'],
  ['kubernetes.io/lvm', 'kubernetes.io~lvm', '/x/kubernetes.io~lvm/lvm'],
])('the driver %s is in the directory %s', (name, directory, path) => {
  expect(flexDirectory(name)).toBe(directory);
  expect(flexExecutable({volumePluginDir: '/x'}, name)).toBe(path);
});

test.each([
  ...[
    '',
    '/',
    '..',
    '../box',
    'a/..',
    'a/../b',
    './a',
    '.hidden/a',
    'a/',
    '/a',
    'a//b',
    'a~b',
    'a/b\n',
    'a\0b',
  ],
  ...['kubernetes.io/csi', 'kubernetes.io/nfs', 'kubernetes.io/empty-dir', 'x'.repeat(256)],
])('no driver has the name %j', async (name) => {
  expect(flexDirectory(name)).toBeUndefined();
  await expect(new FlexDrivers().find({volumePluginDir: '/x'}, name)).rejects.toThrow(
    'no FlexVolume driver can have the name',
  );
});

/** A driver whose call `mount` does this. */
const onMount = (commands: string): string => driverScript(`init) ok ;;\nmount) ${commands} ;;`);

async function aDriver(script: string) {
  const node = await aFlexNode(script);
  return await new FlexDrivers().find(node.host.node, BOX);
}

test.each([
  ['exit 3', 'unexpected end of JSON input: the driver answered mount with "": exit status 3'],
  ['kill -KILL $$', 'unexpected end of JSON input: the driver answered mount with "": signal: killed'],
  ['ok; exit 1', 'mount succeeded, but the driver did not: exit status 1'],
  ['ok; echo debug >&2', `invalid character 'd' after top-level value: the driver answered mount with`],
  [
    String.raw`printf '{"status":"Failure","message":"a\\u001b[31m\\nb"}'`,
    'mount command failed, status: Failure, reason: a [31m b',
  ],
  ['yes x', 'mount was ended: it wrote more than 1048576 bytes'],
])('the failure of a driver that does `%s` says why', async (commands, message) => {
  const driver = await aDriver(onMount(commands));
  const error = await driver.call('mount', ['/x', '{}']).catch((reason: unknown) => reason);
  expect(String(error)).toContain(message);
});

test('a long answer of a driver is cut in messages', async () => {
  const driver = await aDriver(onMount('head -c 500000 /dev/zero | tr "\\\\0" x'));
  const error = await driver.call('mount', []).catch((reason: unknown) => reason);
  expect(String(error)).toContain('xxx');
  expect(String(error).length).toBeLessThan(1500);
});

test('the values of a Secret are in no message and in no property of an error', async () => {
  const driver = await aDriver(
    onMount(`printf '{"status":"Failure","message":"bad s3cret-word, c2VjcmV0"}'`),
  );
  const secrets = ['s3cret-word', 'c2VjcmV0'];
  const error = await driver
    .call('mount', ['{"k":"c2VjcmV0"}'], {secrets})
    .catch((reason: unknown) => reason);
  expect(String(error)).toContain('reason: bad ********, ********');
  const unstarted = await driver
    .call('mount', ['c2VjcmV0'.repeat(20_000)], {secrets})
    .catch((reason: unknown) => reason);
  expect(String(unstarted)).toContain('argument list too long');
  for (const each of [error, unstarted] as Error[])
    expect(JSON.stringify([each, each.cause, Object.entries(each.cause ?? {})])).not.toContain('c2VjcmV0');
});

test('a command that a driver does not support is not called again, until the driver changes', async () => {
  const script = driverScript('init) ok ;;');
  const node = await aFlexNode(script);
  const drivers = new FlexDrivers();
  const call = async () => (await drivers.find(node.host.node, BOX)).call('attach', []);
  expect(await call()).toBeUndefined();
  expect(await call()).toBeUndefined();
  expect(await node.calls()).toEqual([['init'], ['attach']]);
  await node.install(BOX, script.replace('init)', 'init | attach)'));
  expect(await call()).toMatchObject({device: ''});
  expect(await node.calls()).toEqual([['init'], ['attach']]);
});

test('pods that need a new driver at once start it once, and a driver without permission is an error', async () => {
  const node = await aFlexNode(driverScript('init) ok ;;'));
  const drivers = new FlexDrivers();
  await Promise.all([1, 2, 3].map(async () => drivers.find(node.host.node, BOX)));
  expect(await node.calls()).toEqual([['init']]);
  await chmod(node.executable(BOX), 0o644);
  await expect(drivers.find(node.host.node, BOX)).rejects.toThrow(
    `the FlexVolume driver "example.com/box" cannot be used: cannot run ${node.executable(BOX)}: permission denied`,
  );
});

test('a driver that ignores its termination is killed with its helpers when the signal aborts', async () => {
  const node = await aFlexNode(
    onMount('trap "" TERM; sleep 3604 & echo $$ $! >"$0.new"; mv "$0.new" "$0.pids"; wait; wait'),
  );
  const driver = await new FlexDrivers().find(node.host.node, BOX);
  const controller = new AbortController();
  const call = driver.call('mount', [], {signal: controller.signal});
  const ended = expect(call).rejects.toThrow('pod was deleted');
  const path = `${node.executable(BOX)}.pids`;
  await until(async () => (await ifPresent(() => readFile(path, 'utf8'))) !== undefined);
  const pids = (await readFile(path, 'utf8')).trim().split(' ');
  controller.abort(new Error('pod was deleted'));
  await ended;
  const runs = (pid: string): boolean => {
    try {
      return !execFileSync('ps', ['-o', 'stat=', '-p', pid], {encoding: 'utf8'}).startsWith('Z');
    } catch {
      return false;
    }
  };
  await until(() => !pids.some(runs));
});

test('a helper that serves a file system outlives the call, and does not delay it by much', async () => {
  const node = await aFlexNode(onMount('sleep 3605 & echo $! >"$0.helper"; ok'));
  const driver = await new FlexDrivers().find(node.host.node, BOX);
  expect(await driver.call('mount', [])).toMatchObject({device: ''});
  const pid = Number(await readFile(`${node.executable(BOX)}.helper`, 'utf8'));
  process.kill(pid, 'SIGKILL'); // it runs
});
