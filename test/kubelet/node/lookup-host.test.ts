import {expect, test} from 'vitest';
import {candidateNames, createHostLookup, findInHostsFile} from '../../../src/kubelet/node/lookup-host.js';
import {parseResolvConf} from '../../../src/kubelet/node/read-network-files.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {until} from '../../base/until.js';

test('a hosts file has the addresses of names and aliases, without regard to case', () => {
  const text =
    '127.0.0.1 localhost\n192.0.2.2\tNode-1.test  node-1 # own\n# 192.0.2.9 node-1\nfd00::2 node-1\n';
  expect(findInHostsFile(text, 'node-1')).toEqual(['192.0.2.2', 'fd00::2']);
  expect(findInHostsFile(text, 'own')).toEqual([]);
});

test.each([
  ['node-1', 'search a.test b.test', ['node-1.a.test', 'node-1.b.test', 'node-1']],
  ['node-1.c.test', 'search a.test', ['node-1.c.test', 'node-1.c.test.a.test']],
  ['node-1.c', 'search a.test\noptions ndots:2', ['node-1.c.a.test', 'node-1.c']],
  ['node-1.c.', 'search a.test', ['node-1.c.']],
  ['node-1', '', ['node-1']],
])('%s is asked for with the search domains of %j as %j', (name, resolvConf, expected) => {
  expect(candidateNames(name, parseResolvConf(resolvConf))).toEqual(expected);
});

test('the addresses of both families come from the DNS', async () => {
  const resolver = {
    resolve4: async () => Promise.resolve(['192.0.2.2']),
    resolve6: async () => Promise.resolve(['fd00::2']),
    cancel: () => undefined,
  };
  const lookup = createHostLookup(new FakeClock(), new AbortController().signal, () => resolver);
  expect(await lookup('name.invalid.')).toEqual(['192.0.2.2', 'fd00::2']);
});

test('a DNS server that does not answer is not waited for', async () => {
  const clock = new FakeClock();
  let isCancelled = false;
  const never = async (): Promise<never> => new Promise<never>(() => undefined);
  const resolver = {resolve4: never, resolve6: never, cancel: () => (isCancelled = true)};
  const lookup = createHostLookup(clock, new AbortController().signal, () => resolver);
  const found = lookup('name.invalid.');
  await until(() => clock.sleeping === 1);
  await clock.advance(1000);
  expect(await found).toEqual([]);
  expect(isCancelled).toBe(true);
});
