import {crc32} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import {
  ClaimCache,
  countClaimsInUse,
  newClaim,
  restoredClaim,
  withDevices,
  type ClaimDevice,
} from '../../../../src/kubelet/managers/dra/core/claim-info.js';
import {
  cdiDevicesOf,
  claimUsesOf,
  resourceStatusesOf,
} from '../../../../src/kubelet/managers/dra/core/container-devices.js';
import {DeviceHealth} from '../../../../src/kubelet/managers/dra/core/device-health.js';
import {
  formatDraCheckpoint,
  parseDraCheckpoint,
} from '../../../../src/kubelet/managers/dra/core/dra-checkpoint.js';

const aDevice = (name: string, more: Partial<ClaimDevice> = {}): ClaimDevice => ({
  ...{poolName: 'pool', deviceName: name, shareId: undefined, requestNames: ['req']},
  cdiDeviceIds: [`example.com/dra=${name}`],
  ...more,
});
const IDENTITY = {uid: 'u1', name: 'claim', namespace: 'ns'};

describe('the state file', () => {
  const envelope = (data: string): string =>
    JSON.stringify({Data: data, Checksum: crc32(data)}).replaceAll('<', '\\u003c');
  const head =
    '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":';

  test('is that of a kubelet, byte by byte', () => {
    expect(formatDraCheckpoint(undefined)).toBe(envelope(`${head}null}`));
    expect(formatDraCheckpoint([])).toBe(envelope(`${head}[]}`));
    const claim = {
      ...IDENTITY,
      podUids: new Set(['p2', 'p1']),
      drivers: new Map([
        ['z.example.com', undefined],
        [
          'a.example.com',
          [aDevice('d1'), aDevice('d2', {shareId: 's', requestNames: undefined, cdiDeviceIds: undefined})],
        ],
      ]),
    };
    const text = formatDraCheckpoint([claim]);
    expect(text).toBe(
      envelope(
        `${head}[{"ClaimUID":"u1","ClaimName":"claim","Namespace":"ns","PodUIDs":{"p1":{},"p2":{}},"DriverState":{"a.example.com":{"Devices":[{"PoolName":"pool","DeviceName":"d1","ShareID":null,"RequestNames":["req"],"CDIDeviceIDs":["example.com/dra=d1"]},{"PoolName":"pool","DeviceName":"d2","ShareID":"s","RequestNames":null,"CDIDeviceIDs":null}]},"z.example.com":{"Devices":null}}}]}`,
      ),
    );
    expect(formatDraCheckpoint(parseDraCheckpoint(text))).toBe(text);
  });

  test.each([
    ['{"Data":"{}","Checksum":1}', 'checkpoint is corrupted'],
    ['{"Data":', 'unexpected end of JSON input'],
    ['{"Data":1}', 'json: cannot unmarshal number into Go struct field Checkpoint.Data of type string'],
  ])('%s cannot be read', (text, problem) => {
    expect(() => parseDraCheckpoint(text)).toThrow(problem);
  });
});

test('devices of an earlier kubelet stay before those of the last answer, which replaces the one before', () => {
  const restored = restoredClaim({
    ...IDENTITY,
    podUids: new Set(),
    drivers: new Map([['d', [aDevice('d1')]]]),
  });
  const once = withDevices(restored, 'd', [aDevice('d2')]);
  expect(once.drivers.get('d')?.map(({deviceName}) => deviceName)).toEqual(['d1', 'd2']);
  const twice = withDevices(once, 'd', [aDevice('d3')]);
  expect(twice.drivers.get('d')?.map(({deviceName}) => deviceName)).toEqual(['d1', 'd3']);
});

test('prepared claims are counted by driver, and as one', () => {
  const claim = newClaim({...IDENTITY, drivers: ['a', 'b', 'a']});
  expect(countClaimsInUse([claim, {...claim, isPrepared: true}])).toEqual(
    new Map([
      ['<any>', 1],
      ['a', 1],
      ['b', 1],
    ]),
  );
});

describe('the devices of a container', () => {
  const claims = new ClaimCache();
  const devices = [
    aDevice('d1', {requestNames: ['one']}),
    aDevice('d2', {requestNames: ['two']}),
    aDevice('d3', {requestNames: undefined}),
  ];
  claims.put(withDevices(newClaim({...IDENTITY, drivers: ['dra']}), 'dra', devices));
  const pod = {
    metadata: {name: 'web', namespace: 'ns', uid: 'p1'},
    spec: {containers: [], resourceClaims: [{name: 'r', resourceClaimName: 'claim'}]},
  } as unknown as Pod;
  const using = (...used: readonly object[]): Container =>
    ({name: 'main', resources: {claims: used}}) as unknown as Container;
  const idsOf = (container: Container): readonly string[] =>
    cdiDevicesOf(claims, pod, container).map(({name}) => name.replace('example.com/dra=', ''));

  test.each<[readonly object[], readonly string[]]>([
    [[], []],
    [[{name: 'r'}], ['d1', 'd2', 'd3']],
    [[{name: 'r', request: 'two'}], ['d2', 'd3']],
    [[{name: 'r', request: 'none'}], ['d3']],
  ])('with the claims %j are %j', (used, ids) => {
    expect(idsOf(using(...used))).toEqual(ids);
  });

  test('are not known before the claim is prepared', () => {
    const other = {...pod, metadata: {...pod.metadata, namespace: 'other'}};
    expect(() => cdiDevicesOf(claims, other, using({name: 'r'}))).toThrow(
      'internal error: unable to get claim info for ResourceClaim claim in namespace other',
    );
    expect(claimUsesOf(claims, other, using({name: 'r'}))).toEqual([]);
    expect(resourceStatusesOf(claims, other, using({name: 'r'}), () => ({health: 'Healthy'}))).toEqual([]);
  });

  test('are in the pod resources API with the CDI devices of those before them', () => {
    const [use] = claimUsesOf(claims, pod, using({name: 'r'}));
    expect(use?.devices.map(({device, cdiDevices}) => [device, cdiDevices.length])).toEqual([
      ['d1', 1],
      ['d2', 2],
      ['d3', 3],
    ]);
  });

  test('have a health for each request, under the name of the alternative that the container uses', () => {
    const used = using({name: 'r'}, {name: 'r', request: 'two/second'});
    const statuses = resourceStatusesOf(claims, pod, used, (_driver, {deviceName}) => ({
      health: deviceName === 'd2' ? 'Unhealthy' : 'Healthy',
    }));
    expect(statuses.map(({name, resources}) => [name, resources?.map(({health}) => health)])).toEqual([
      ['claim:r', ['Healthy', 'Unhealthy', 'Healthy']],
      ['claim:r/two/second', ['Unhealthy', 'Healthy']],
    ]);
  });
});

describe('the health of devices', () => {
  const reported = (deviceName: string, more: object = {}) => ({
    ...{poolName: 'pool', deviceName, health: 'Healthy' as const, timeoutMs: 30_000},
    ...more,
  });
  const d1 = {poolName: 'pool', deviceName: 'd1'};

  test('is unknown without a report in time, and after the end of the driver', () => {
    const health = new DeviceHealth();
    expect(health.of('dra', d1, 0)).toEqual({health: 'Unknown'});
    health.update('dra', [reported('d1', {message: 'fine'})], 0);
    expect(health.of('dra', d1, 30_000)).toEqual({health: 'Healthy', message: 'fine'});
    expect(health.of('dra', d1, 30_001)).toEqual({health: 'Unknown'});
    expect(health.of('other', d1, 0)).toEqual({health: 'Unknown'});
    health.clear('dra');
    expect(health.of('dra', d1, 0)).toEqual({health: 'Unknown'});
  });

  test('changes with a report of another health or message, and when a device is not reported for too long', () => {
    const health = new DeviceHealth();
    const changed = (devices: Parameters<DeviceHealth['update']>[1], now: number) =>
      health.update('dra', devices, now).map(({deviceName}) => deviceName);
    expect(changed([reported('d1'), reported('d2')], 0)).toEqual(['d1', 'd2']);
    expect(changed([reported('d1'), reported('d2')], 10_000)).toEqual([]);
    expect(changed([reported('d1', {health: 'Unhealthy'})], 20_000)).toEqual(['d1']);
    expect(health.of('dra', {...d1, deviceName: 'd2'}, 20_000)).toEqual({health: 'Healthy'});
    expect(changed([reported('d1', {health: 'Unhealthy'})], 50_000)).toEqual(['d2']);
    expect(changed([reported('d1', {health: 'Unhealthy', message: 'x'})], 50_000)).toEqual(['d1']);
  });

  test('is remembered of a limited number of devices', () => {
    const health = new DeviceHealth();
    const many = (prefix: string) => Array.from({length: 5000}, (_, index) => reported(`${prefix}${index}`));
    health.update('dra', many('a'), 0);
    health.update('dra', many('b'), 0);
    expect(health.of('dra', {...d1, deviceName: 'b0'}, 0)).toEqual({health: 'Healthy'});
    expect(health.of('dra', {...d1, deviceName: 'a0'}, 0)).toEqual({health: 'Unknown'});
  });
});
