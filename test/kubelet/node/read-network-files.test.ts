import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {readNodeFacts} from '../../../src/kubelet/node/read-node-facts.js';
import {parseResolvConf} from '../../../src/kubelet/node/read-network-files.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

test('the last search line of resolv.conf is used, and duplicate options are merged', () => {
  const text = [
    '# comment',
    'nameserver 192.0.2.53 ignored',
    'nameserver 192.0.2.54 ; second',
    'search old.test',
    'search example.test. . other.test',
    'options ndots:2 timeout:1',
    'options ndots:5',
  ].join('\n');
  expect(parseResolvConf(text)).toEqual({
    nameservers: ['192.0.2.53', '192.0.2.54'],
    searches: ['example.test', 'other.test'],
    options: ['ndots:5', 'timeout:1'],
  });
});

test('a nameserver line without an address is an error', () => {
  expect(() => parseResolvConf('nameserver\n')).toThrow('nameserver list is empty');
});

test('resolv.conf is read each time, and its absence is reported with the kubelet’s message', async () => {
  const directory = await temporaryDirectory();
  const resolvConf = join(directory, 'resolv.conf');
  const write = async (address: string) => writeFile(resolvConf, `nameserver ${address}\n`);
  await write('192.0.2.53');
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const {readResolvConf} = await readNodeFacts(connection.runtime, {rootDir: directory, resolvConf});
  expect(await readResolvConf()).toMatchObject({nameservers: ['192.0.2.53']});
  await write('192.0.2.54');
  expect(await readResolvConf()).toMatchObject({nameservers: ['192.0.2.54']});
  await rm(resolvConf);
  await expect(readResolvConf()).rejects.toThrow(`open ${resolvConf}: no such file or directory`);
});

test('an empty path disables resolv.conf', async () => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const {readResolvConf} = await readNodeFacts(connection.runtime, {rootDir: '/nonexistent', resolvConf: ''});
  expect(await readResolvConf()).toBeUndefined();
});
