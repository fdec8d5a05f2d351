import {mkdtemp, readdir, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {removeTree} from '../../../../src/base/fs/remove-tree.js';
import {
  checksumOf,
  formatCheckpoint,
  goChecksum,
  hasRightChecksum,
  readCheckpointFile,
  writeCheckpointFile,
} from '../../../../src/kubelet/resources/checkpoint/checkpoint.js';
import {
  goBytes,
  goInteger,
  goMap,
  goPointer,
  goSlice,
  goString,
  goStruct,
  goType,
  readGoJson,
} from '../../../../src/kubelet/resources/checkpoint/go-type.js';

// What kubelet 1.36.2 writes (oracles cpu-checkpoint, memory-checkpoint and device-checkpoint).

const text = goString();
const int = goInteger('int');
const ints = goSlice('[]int', int);
const strings = goSlice('[]string', text);

const cpuSet = goType<readonly number[]>('cpuset.CPUSet', {
  dump: (cpus) => `{elems:(map[int]struct {})map[${cpus.map((cpu) => `${cpu}:{}`).join(' ')}]}`,
  toJson: (cpus) => `"${cpus.join(',')}"`,
  fromJson: () => [],
  zero: [],
  isEmpty: () => false,
});

const entries = {
  name: 'Entries',
  type: goMap('map[string]map[string]string', text, goMap('map[string]string', text, text)),
  omitEmpty: true,
};
const cpuFields = {
  policyName: {name: 'PolicyName', type: text},
  defaultCpuSet: {name: 'DefaultCPUSet', type: text},
  entries,
};
const cpuCheckpoint = goStruct('state.CPUManagerCheckpoint', {
  ...cpuFields,
  checksum: {name: 'Checksum', type: goChecksum},
});
const podLevelCpuCheckpoint = goStruct('state.CPUManagerCheckpoint', {
  ...cpuFields,
  podEntries: {
    name: 'PodEntries',
    type: goMap(
      'state.PodCPUAssignments',
      text,
      goStruct('state.PodEntry', {cpuSet: {name: 'CPUSet', type: cpuSet}}),
    ),
    omitEmpty: true,
  },
  checksum: {name: 'Checksum', type: goChecksum},
});

const POD = '175617c8-1111-2222-3333-426c1aedae03';

test('a checkpoint of the CPU manager has the kubelet’s bytes', () => {
  const content = {
    policyName: 'static',
    defaultCpuSet: '0',
    entries: new Map([
      [
        POD,
        new Map([
          ['sidecar0', '4-5'],
          ['c91', '5-6'],
        ]),
      ],
    ]),
  };
  const file = formatCheckpoint(cpuCheckpoint, content);
  expect(file).toBe(
    `{"policyName":"static","defaultCpuSet":"0","entries":{"${POD}":{"c91":"5-6","sidecar0":"4-5"}},"checksum":1588541679}`,
  );
  const read = readGoJson(cpuCheckpoint, file, cpuCheckpoint.zero);
  expect(read).toEqual({...content, checksum: 1588541679});
  expect(hasRightChecksum(cpuCheckpoint, read)).toBe(true);
  expect(hasRightChecksum(cpuCheckpoint, {...read, defaultCpuSet: '1'})).toBe(false);
});

test('empty maps are hashed but not written, and CPU sets are hashed as Go’s maps', () => {
  const content = {policyName: 'static', defaultCpuSet: '0-3,8,10-11', entries: new Map()};
  expect(formatCheckpoint(cpuCheckpoint, content)).toBe(
    '{"policyName":"static","defaultCpuSet":"0-3,8,10-11","checksum":912043330}',
  );
  const podEntries = new Map([[POD, {cpuSet: [4, 5, 6]}]]);
  expect(
    goPointer(podLevelCpuCheckpoint).dumpTyped({...content, podEntries, entries: undefined, checksum: 0}),
  ).toBe(
    `(*state.CPUManagerCheckpoint){PolicyName:(string)static DefaultCPUSet:(string)0-3,8,10-11 Entries:(map[string]map[string]string)<nil> PodEntries:(state.PodCPUAssignments)map[${POD}:{CPUSet:(cpuset.CPUSet){elems:(map[int]struct {})map[4:{} 5:{} 6:{}]}}] Checksum:(checksum.Checksum)0}`,
  );
});

const deviceData = goStruct('checkpoint.checkpointData', {
  entries: {
    name: 'PodDeviceEntries',
    json: 'PodDeviceEntries',
    type: goSlice(
      '[]checkpoint.PodDevicesEntry',
      goStruct('checkpoint.PodDevicesEntry', {
        podUid: {name: 'PodUID', json: 'PodUID', type: text},
        container: {name: 'ContainerName', json: 'ContainerName', type: text},
        resource: {name: 'ResourceName', json: 'ResourceName', type: text},
        devices: {
          name: 'DeviceIDs',
          json: 'DeviceIDs',
          type: goMap('checkpoint.DevicesPerNUMA', goInteger('int64'), strings),
        },
        response: {name: 'AllocResp', json: 'AllocResp', type: goBytes()},
      }),
    ),
  },
  registered: {
    name: 'RegisteredDevices',
    json: 'RegisteredDevices',
    type: goMap('map[string][]string', text, strings),
  },
});

test('data of the device manager has the kubelet’s bytes and checksum', () => {
  const data = {
    entries: [
      {
        podUid: 'e5acea10-1111-2222-3333-ded0d0d3e24e',
        container: 'app',
        resource: 'vendor.io/gpu',
        devices: new Map([[0, ['dev-1', 'dev-7']]]),
        response: Uint8Array.of(97, 0, 98, 255),
      },
    ],
    registered: new Map(),
  };
  const json =
    '{"PodDeviceEntries":[{"PodUID":"e5acea10-1111-2222-3333-ded0d0d3e24e","ContainerName":"app","ResourceName":"vendor.io/gpu","DeviceIDs":{"0":["dev-1","dev-7"]},"AllocResp":"YQBi/w=="}],"RegisteredDevices":{}}';
  expect(deviceData.toJson(data)).toBe(json);
  expect(checksumOf(deviceData, data)).toBe(3508156956);
  expect(checksumOf(deviceData, readGoJson(deviceData, json, deviceData.zero))).toBe(3508156956);
});

test('integer keys are hashed by number and written as text', () => {
  const map = goMap('m', goInteger('int64'), ints);
  const value = new Map([
    [10, [1]],
    [9, undefined],
    [-1, []],
  ]);
  expect(map.dumpTyped(value)).toBe('(m)map[-1:[] 9:<nil> 10:[1]]');
  expect(map.toJson(value)).toBe('{"-1":[],"10":[1],"9":null}');
});

test('pointers are hashed without addresses', () => {
  const node = goStruct('state.N', {cells: {name: 'Cells', type: ints}});
  const nodes = goMap('state.M', int, goPointer(node));
  expect(
    nodes.dump(
      new Map([
        [0, {cells: [0, 1]}],
        [1, undefined],
      ]),
    ),
  ).toBe('map[0:<*>{Cells:([]int)[0 1]} 1:<*><nil>]');
});

test.each([
  ['null leaves everything as it is', 'null', {cells: [7]}],
  ['null makes a slice nil', '{"cells":null}', {cells: undefined}],
  ['unknown keys are ignored, the case of keys too', '{"x":1,"CELLS":[1]}', {cells: [1]}],
])('%s', (_name, json, expected) => {
  const node = goStruct('state.N', {cells: {name: 'Cells', type: ints}});
  expect(readGoJson(node, json, {cells: [7]})).toEqual(expected);
});

test.each([
  ['', 'unexpected end of JSON input'],
  ['{"policyName":', 'unexpected end of JSON input'],
  ['[]', 'json: cannot unmarshal array into Go value of type state.CPUManagerCheckpoint'],
  [
    '{"policyName":1}',
    'json: cannot unmarshal number into Go struct field CPUManagerCheckpoint.policyName of type string',
  ],
  [
    '{"entries":{"p":{"c":["0"]}}}',
    'json: cannot unmarshal array into Go struct field CPUManagerCheckpoint.entries of type string',
  ],
  [
    '{"checksum":-1}',
    'json: cannot unmarshal number -1 into Go struct field CPUManagerCheckpoint.checksum of type checksum.Checksum',
  ],
])('reading %j fails as in Go', (json, message) => {
  expect(() => readGoJson(cpuCheckpoint, json, cpuCheckpoint.zero)).toThrow(message);
});

test('a checkpoint file is replaced with mode 0600', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-checkpoint-'));
  try {
    const path = join(directory, 'cpu_manager_state');
    expect(await readCheckpointFile(path)).toBeUndefined();
    await writeCheckpointFile(path, 'one');
    await writeCheckpointFile(path, 'two');
    expect(await readCheckpointFile(path)).toBe('two');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['cpu_manager_state']);
  } finally {
    await removeTree(directory);
  }
});
