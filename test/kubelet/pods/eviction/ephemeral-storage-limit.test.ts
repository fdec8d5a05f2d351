import {describe, expect, test} from 'vitest';
import {
  findExceededStorage,
  limitsEphemeralStorage,
} from '../../../../src/kubelet/pods/eviction/ephemeral-storage-limit.js';
import {NO_FILES} from '../../../../src/base/fs/file-usage.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

const MEBIBYTE = 1024n * 1024n;
const withLimit = (name: string, limit?: string) =>
  aContainer({name, ...(limit !== undefined && {resources: {limits: {'ephemeral-storage': limit}}})});
const pod = aPod({containers: [withLimit('a', '4Mi'), withLimit('b', '2048Ki'), withLimit('c')]});

const megabytes = (sizes: Readonly<Record<string, number>>): ReadonlyMap<string, bigint> =>
  new Map(Object.entries(sizes).map(([name, size]) => [name, BigInt(size) * MEBIBYTE]));
const files = (size: number) => ({usedBytes: BigInt(size) * MEBIBYTE, inodesUsed: 1n});
const CONTAINER_MESSAGE = 'Container b exceeded its local ephemeral storage limit "2Mi". ';
/** Sizes in MiB. */
interface Sizes {
  readonly layers: Readonly<Record<string, number>>;
  readonly logs?: Readonly<Record<string, number>>;
  readonly volumes?: number;
  readonly dedicatedImageFs?: boolean;
}
const POD_MESSAGE = 'Pod ephemeral local storage usage exceeds the total limit of containers 6Mi. ';

describe('a pod with limits of ephemeral storage', () => {
  test.each([
    ['uses its limits', {layers: {a: 4, b: 2}}, undefined],
    ['has large volumes', {layers: {a: 1}, volumes: 6}, POD_MESSAGE],
    ['has large logs', {layers: {a: 1}, logs: {c: 6}}, POD_MESSAGE],
    ['has large layers', {layers: {c: 7}}, POD_MESSAGE],
    ['has a large container', {layers: {b: 2}, logs: {b: 1}}, CONTAINER_MESSAGE],
    ['has a large container without a limit', {layers: {c: 5}}, undefined],
    ['has a large layer on another filesystem', {layers: {b: 3}, dedicatedImageFs: true}, undefined],
    ['has large logs', {layers: {}, logs: {b: 3}, dedicatedImageFs: true}, CONTAINER_MESSAGE],
  ] as const)(
    'that %s',
    (_title, {layers, logs = {}, volumes = 0, dedicatedImageFs = false}: Sizes, message) => {
      const usage = {
        layers: megabytes(layers),
        logs: new Map(Object.entries(logs).map(([name, size]) => [name, files(size)])),
        volumes: files(volumes),
        hostsFile: NO_FILES,
        dedicatedImageFs,
      };
      const exceeded = findExceededStorage(pod, usage);
      expect(exceeded?.message).toBe(message);
      const signal = message === POD_MESSAGE ? 'ephemeralpodfs.limit' : 'ephemeralcontainerfs.limit';
      expect(exceeded?.signal).toBe(message === undefined ? undefined : signal);
    },
  );
});

const onlyLayers = (layers: Readonly<Record<string, number>>) => ({
  layers: megabytes(layers),
  logs: new Map(),
  volumes: NO_FILES,
  hostsFile: NO_FILES,
  dedicatedImageFs: false,
});

test('a pod without limits is not measured', () => {
  expect(limitsEphemeralStorage(pod)).toBe(true);
  const free = aPod({containers: [withLimit('a')]});
  expect(limitsEphemeralStorage(free)).toBe(false);
  expect(findExceededStorage(free, onlyLayers({a: 9}))).toBeUndefined();
});

test('the limit of a pod includes the largest need of its init containers and the overhead', () => {
  const limited = aPod({
    overhead: {'ephemeral-storage': '1Mi'},
    initContainers: [withLimit('setup', '8Mi')],
    containers: [withLimit('a', '4Mi'), withLimit('c')],
  });
  expect(findExceededStorage(limited, onlyLayers({c: 9}))).toBeUndefined();
  expect(findExceededStorage(limited, onlyLayers({c: 10}))?.message).toContain(' containers 9Mi. ');
});

test('the limit of a sidecar counts for the pod only', () => {
  const withSidecar = aPod({
    initContainers: [{...withLimit('side', '2Mi'), restartPolicy: 'Always'}],
    containers: [withLimit('a', '4Mi')],
  });
  expect(findExceededStorage(withSidecar, onlyLayers({side: 5}))).toBeUndefined();
});
