import {describe, expect, test} from 'vitest';
import {canonicalJson, hashContainer, computePodUid, fnv128} from '../../src/api/container-hash.js';
import type {Pod} from '../../src/api/types/v1-pod.js';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'web', namespace: 'default'},
  spec: {containers: [{name: 'main', image: 'nginx:1'}]},
};
const sameInAnotherOrder: Pod = {
  spec: {containers: [{image: 'nginx:1', name: 'main'}]},
  metadata: {namespace: 'default', name: 'web'},
  kind: 'Pod',
  apiVersion: 'v1',
};

test.each([
  ['test_container', 'foo/image:v1', '8e45cbd0'],
  ['foo', 'bar', '11a6d6d6'],
  ['c', 'busybox:1.36', '142437a3'],
  ['pause', 'registry.k8s.io/pause:3.10', '28ed4cd7'],
])('the hash of container %s with image %s is %s', (name, image, hash) => {
  expect(hashContainer({name, image})).toBe(hash);
});

test('the container hash escapes <, > and & as Go does', () => {
  expect(hashContainer({name: 'a', image: '<b>&'})).not.toBe(hashContainer({name: 'a', image: 'b'}));
});

test('canonical JSON sorts keys at every depth and keeps lists in order', () => {
  expect(canonicalJson({b: [{d: 1, c: 2}], a: null})).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
});

describe.each([
  [
    'computePodUid',
    (subject: Pod) => computePodUid(subject, '/root'),
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  ],
])('%s', (_name, uid, format) => {
  test('has the expected format', () => {
    expect(uid(pod)).toMatch(format);
  });

  test('does not depend on the order of keys, a UID or a status', () => {
    const runs: Pod = {...sameInAnotherOrder, status: {phase: 'Running'}};
    expect(uid({...runs, metadata: {...runs.metadata, uid: 'x'}})).toBe(uid(pod));
  });

  test.each<[string, Pod]>([
    ['name', {...pod, metadata: {...pod.metadata, name: 'web2'}}],
    ['namespace', {...pod, metadata: {...pod.metadata, namespace: 'other'}}],
    ['label', {...pod, metadata: {...pod.metadata, labels: {a: 'b'}}}],
    ['command', {...pod, spec: {containers: [{name: 'main', image: 'nginx:1', command: ['x']}]}}],
  ])('changes with the %s', (_what, changed) => {
    expect(uid(changed)).not.toBe(uid(pod));
  });
});

test.each([
  ['', '6c62272e07bb014262b821756295c58d'],
  ['a', 'd228cb696f1a8caf78912b704e4a8964'],
  ['foobar', '343e1662793c64bf6f0d3597ba446f18'],
])('the 128-bit FNV-1a hash of "%s" is %s', (text, hash) => {
  expect(fnv128(text)).toBe(hash);
});

test('the 128-bit FNV-1a hash of a long text is that of its definition', () => {
  const text = Array.from({length: 3000}, (_, index) => String.fromCodePoint(index)).join('');
  let expected = 0x6c62272e07bb014262b821756295c58dn;
  for (const byte of Buffer.from(text))
    expected = BigInt.asUintN(128, (expected ^ BigInt(byte)) * (2n ** 88n + 0x13bn));
  expect(fnv128(text)).toBe(expected.toString(16).padStart(32, '0'));
});
