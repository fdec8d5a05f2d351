import {describe, expect, test} from 'vitest';
import type {
  DeviceClass,
  DeviceRequest,
  OfferedDevice,
  ResourceClaimSpec,
  ResourceSlice,
} from '../../../../../src/api/types/v1-device-resources.js';
import {allocateDevices} from '../../../../../src/kubelet/managers/dra/allocation/allocate-devices.js';
import type {
  AllocatedDevice,
  AllocationInput,
} from '../../../../../src/kubelet/managers/dra/allocation/allocation-types.js';
import {createDeviceSelectors} from '../../../../../src/kubelet/managers/dra/selectors/device-selectors.js';

const DRIVER = 'dra.example.com';
const {matches} = createDeviceSelectors();

const aClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  ...{apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: {name}},
  spec,
});

const cel = (expression: string) => ({cel: {expression}});

function aSlice(
  devices: readonly OfferedDevice[],
  changes: Partial<ResourceSlice['spec']> = {},
  name = 'slice',
): ResourceSlice {
  const {pool, ...others} = changes;
  return {
    ...{apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: {name}},
    spec: {
      ...{driver: DRIVER, devices, pool: {name: 'pool', generation: 1, resourceSliceCount: 1, ...pool}},
      ...(Object.keys(others).some((key) => /node/i.test(key)) ? {} : {allNodes: true}),
      ...others,
    },
  };
}

const request = (name: string, exactly: Partial<DeviceRequest['exactly']> = {}): DeviceRequest => ({
  name,
  exactly: {deviceClassName: 'gpu', ...exactly},
});

const named = (...names: readonly string[]): readonly OfferedDevice[] => names.map((name) => ({name}));
const text = (name: string, attributes: Readonly<Record<string, string>>): OfferedDevice => ({
  name,
  attributes: Object.fromEntries(Object.entries(attributes).map(([key, string]) => [key, {string}])),
});

interface Case {
  readonly claims: readonly ResourceClaimSpec['devices'][];
  readonly slices: readonly ResourceSlice[];
  readonly classes?: readonly DeviceClass[];
  readonly taken?: readonly (string | Partial<AllocatedDevice>)[];
}

function run({claims, slices, classes = [aClass('gpu')], taken = []}: Case) {
  let shares = 0;
  const input: AllocationInput = {
    claims: claims.map((devices, index) => ({namespace: 'ns', name: `c${index}`, spec: {devices}})),
    ...{classes, slices, matches},
    node: {
      name: 'n1',
      matches: ({nodeSelectorTerms}) =>
        nodeSelectorTerms.some(({matchExpressions = []}) => matchExpressions.some(({key}) => key === 'here')),
    },
    allocated: {
      devices: taken.map((one) => ({
        ...{request: 'r', driver: DRIVER, pool: 'pool', device: 'x'},
        ...(typeof one === 'string' ? {device: one} : one),
      })),
    },
    newShareId: () => `share-${(shares += 1)}`,
  };
  return allocateDevices(input);
}

/** Returns the devices of each claim as `request=device`, or why there are none. */
function choose(input: Case): readonly string[] | string {
  try {
    const outcome = run(input);
    if (outcome.kind === 'short') return outcome.reason;
    return outcome.allocations.map(({devices}) =>
      devices.results.map((one) => `${one.request}=${one.device}`).join(' '),
    );
  } catch (error) {
    return (error as Error).message;
  }
}

const only = (...requests: readonly DeviceRequest[]): readonly ResourceClaimSpec['devices'][] => [{requests}];
const ABC = aSlice(named('a', 'b', 'c'));

describe('devices are chosen', () => {
  test.each<[string, Case, readonly string[] | string]>([
    ['in order', {claims: only(request('r', {count: 2})), slices: [ABC]}, ['r=a r=b']],
    ['that are free', {claims: only(request('r')), slices: [ABC], taken: ['a']}, ['r=b']],
    [
      'for several claims',
      {claims: [...only(request('r')), ...only(request('s'))], slices: [ABC]},
      ['r=a', 's=b'],
    ],
    [
      'another way if a later request has none',
      {
        claims: only(
          request('any'),
          request('a', {selectors: [cel(`device.attributes["${DRIVER}"].n == "a"`)]}),
        ),
        slices: [aSlice([text('a', {n: 'a'}), text('b', {n: 'b'})])],
      },
      ['any=b a=a'],
    ],
    ['all of them', {claims: only(request('r', {allocationMode: 'All'})), slices: [ABC]}, ['r=a r=b r=c']],
    [
      'all of them, unless one is taken',
      {claims: only(request('r', {allocationMode: 'All'})), slices: [ABC], taken: ['b']},
      'claim ns/c0, request r needs all devices of class gpu: 3 devices on this node, 1 allocated already',
    ],
    [
      'that are in use, with admin access',
      {claims: only(request('r', {adminAccess: true})), slices: [ABC], taken: ['a', 'b', 'c']},
      ['r=a'],
    ],
    [
      'although others watch them with admin access',
      {claims: only(request('r')), slices: [ABC], taken: [{device: 'a', adminAccess: true}]},
      ['r=a'],
    ],
    [
      'of the class',
      {
        claims: only(request('r')),
        classes: [aClass('gpu', {selectors: [cel(`device.attributes["${DRIVER}"].kind == "gpu"`)]})],
        slices: [aSlice([text('nic', {kind: 'nic'}), text('card', {kind: 'gpu'})])],
      },
      ['r=card'],
    ],
    [
      'of the first alternative that is available',
      {
        claims: only({
          name: 'r',
          firstAvailable: [
            {name: 'four', deviceClassName: 'gpu', count: 4},
            {name: 'two', deviceClassName: 'gpu', count: 2},
          ],
        }),
        slices: [ABC],
      },
      ['r/two=a r/two=b'],
    ],
    [
      'with the same attribute',
      {
        claims: [{requests: [request('r', {count: 2})], constraints: [{matchAttribute: `${DRIVER}/root`}]}],
        slices: [aSlice([text('a', {root: '1'}), text('b', {root: '2'}), text('c', {root: '2'})])],
      },
      ['r=b r=c'],
    ],
    [
      'with different attributes, for the requests of the constraint',
      {
        claims: [
          {
            requests: [request('r'), request('s'), request('t')],
            constraints: [{requests: ['r', 's'], distinctAttribute: `${DRIVER}/root`}],
          },
        ],
        slices: [aSlice([text('a', {root: '1'}), text('b', {root: '1'}), text('c', {root: '2'})])],
      },
      ['r=a s=c t=b'],
    ],
    [
      'without taints that are not tolerated',
      {
        claims: only(request('r')),
        slices: [
          aSlice([
            {name: 'a', taints: [{key: 'broken', effect: 'NoSchedule'}]},
            {name: 'b', taints: [{key: 'x', effect: 'None'}]},
          ]),
        ],
      },
      ['r=b'],
    ],
    [
      'with taints that are tolerated',
      {
        claims: only(request('r', {tolerations: [{key: 'broken', operator: 'Exists'}]})),
        slices: [aSlice([{name: 'a', taints: [{key: 'broken', value: 'v', effect: 'NoExecute'}]}])],
      },
      ['r=a'],
    ],
    [
      'of this node',
      {
        claims: only(request('r', {count: 2})),
        slices: [
          aSlice(named('far'), {nodeName: 'n2', pool: {name: 'p1', resourceSliceCount: 1}}),
          aSlice(named('near'), {nodeName: 'n1', pool: {name: 'p2', resourceSliceCount: 1}}),
          aSlice(named('labeled'), {
            nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: 'here', operator: 'Exists'}]}]},
            pool: {name: 'p3', resourceSliceCount: 1},
          }),
        ],
      },
      ['r=near r=labeled'],
    ],
    [
      'of this node, device by device',
      {
        claims: only(request('r')),
        slices: [
          aSlice(
            [
              {name: 'a', nodeName: 'n2'},
              {name: 'b', nodeName: 'n1'},
            ],
            {perDeviceNodeSelection: true, nodeName: undefined as never},
          ),
        ],
      },
      ['r=b'],
    ],
    [
      'of the newest generation',
      {
        claims: only(request('r')),
        slices: [
          aSlice(named('old'), {}, 'a'),
          aSlice(named('new'), {pool: {name: 'pool', generation: 2, resourceSliceCount: 1}}, 'b'),
        ],
      },
      ['r=new'],
    ],
    [
      'by the names of pools and slices',
      {
        claims: only(request('r', {count: 3})),
        slices: [
          aSlice(named('z'), {pool: {name: 'b', resourceSliceCount: 1}}),
          aSlice(named('y'), {pool: {name: 'a', resourceSliceCount: 2}}, 's2'),
          aSlice(named('x'), {pool: {name: 'a', resourceSliceCount: 2}}, 's1'),
        ],
      },
      ['r=x r=y r=z'],
    ],
    [
      'only of pools that are complete',
      {
        claims: only(request('r')),
        slices: [aSlice(named('a'), {pool: {name: 'pool', resourceSliceCount: 2}})],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 0 devices on this node, pool dra.example.com/pool is incomplete: 1 of 2 ResourceSlices are known',
    ],
    [
      'all of them only if pools are complete',
      {
        claims: only(request('r', {allocationMode: 'All'})),
        slices: [aSlice(named('a'), {pool: {name: 'pool', resourceSliceCount: 2}})],
      },
      'claim ns/c0, request r: asks for all devices, but resource pool dra.example.com/pool is currently being updated: 1 of 2 ResourceSlices are known',
    ],
    [
      'only of pools without a device of the same name twice',
      {
        claims: only(request('r')),
        slices: [
          aSlice(named('a'), {pool: {name: 'pool', resourceSliceCount: 2}}, 's1'),
          aSlice(named('a'), {pool: {name: 'pool', resourceSliceCount: 2}}, 's2'),
        ],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 0 devices on this node, pool dra.example.com/pool is invalid: duplicate device name a',
    ],
    [
      'not without slices',
      {claims: only(request('r')), slices: []},
      'claim ns/c0, request r needs 1 device of class gpu: no ResourceSlice has devices for this node',
    ],
    [
      'not without their class',
      {claims: only(request('r', {deviceClassName: 'tpu'})), slices: [ABC]},
      'request r: device class tpu does not exist',
    ],
    [
      'not with a wrong selector of the class',
      {
        claims: only(request('r')),
        classes: [aClass('gpu', {selectors: [cel('true'), cel('device.x')]})],
        slices: [ABC],
      },
      'class gpu: selector #1: CEL compile error: No such key: x in "device.x"',
    ],
    [
      'at most 32 for a claim',
      {claims: only(request('r', {count: 33})), slices: [ABC]},
      'request r: number of requested devices 33 exceeds the claim limit of 32',
    ],
  ])('%s', (_title, input, expected) => {
    expect(choose(input)).toEqual(expected);
  });
});

describe('devices that claims share', () => {
  const shared = (name: string, memory: string, changes: object = {}): OfferedDevice => ({
    name,
    allowMultipleAllocations: true,
    capacity: {memory: {value: memory, ...changes}},
  });
  const takes = (memory: string) => request('r', {capacity: {requests: {memory}}});

  test.each<[string, Case, readonly string[] | string]>([
    [
      'are taken in parts',
      {claims: [...only(takes('4Gi')), ...only(takes('4Gi'))], slices: [aSlice([shared('a', '8Gi')])]},
      ['r=a', 'r=a'],
    ],
    [
      'have no more than their capacity',
      {
        claims: only(takes('4Gi')),
        slices: [aSlice([shared('a', '8Gi')])],
        taken: [{device: 'a', shareID: 's', consumedCapacity: {memory: '5Gi'}}],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 1 device on this node, 1 not enough capacity',
    ],
    [
      'are taken whole by default',
      {
        claims: [...only(request('r')), ...only(request('r'))],
        slices: [aSlice([shared('a', '8Gi'), shared('b', '8Gi')])],
      },
      ['r=a', 'r=b'],
    ],
    [
      'are taken by the default of their policy',
      {
        claims: [...only(request('r')), ...only(request('r'))],
        slices: [
          aSlice([shared('a', '8Gi', {requestPolicy: {default: '1Gi', validValues: ['1Gi', '2Gi']}})]),
        ],
      },
      ['r=a', 'r=a'],
    ],
    [
      'are not taken by amounts that their policy does not allow',
      {
        claims: only(takes('3Gi')),
        slices: [
          aSlice([shared('a', '8Gi', {requestPolicy: {default: '1Gi', validValues: ['1Gi', '2Gi']}})]),
        ],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 1 device on this node, 1 not enough capacity',
    ],
    [
      'must have the capacity',
      {
        claims: only(request('r', {capacity: {requests: {cores: '1'}}})),
        slices: [aSlice([shared('a', '8Gi')])],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 1 device on this node, 1 not enough capacity',
    ],
  ])('%s', (_title, input, expected) => {
    expect(choose(input)).toEqual(expected);
  });

  test('are rounded up to a step of their policy', () => {
    const policy = {requestPolicy: {default: '1Gi', validRange: {min: '1Gi', max: '4Gi', step: '512Mi'}}};
    const outcome = run({claims: only(takes('1100Mi')), slices: [aSlice([shared('a', '8Gi', policy)])]});
    expect(outcome).toMatchObject({
      allocations: [{devices: {results: [{shareID: 'share-1', consumedCapacity: {memory: '1536Mi'}}]}}],
    });
  });
});

describe('partitions of a device', () => {
  const counters = (value: string) => [{counterSet: 'card', counters: {memory: {value}}}];
  const slices = [
    aSlice(
      [],
      {
        sharedCounters: [{name: 'card', counters: {memory: {value: '40Gi'}}}],
        pool: {name: 'pool', resourceSliceCount: 2},
        devices: [],
      },
      's0',
    ),
    aSlice(
      [
        {name: 'half', consumesCounters: counters('20Gi')},
        {name: 'other', consumesCounters: counters('20Gi')},
        {name: 'whole', consumesCounters: counters('40Gi')},
      ],
      {pool: {name: 'pool', resourceSliceCount: 2}},
      's1',
    ),
  ];

  test.each<[string, Case, readonly string[] | string]>([
    [
      'are given while there are counters',
      {claims: only(request('r', {count: 2})), slices},
      ['r=half r=other'],
    ],
    [
      'are not given beyond them',
      {claims: only(request('r', {count: 3})), slices},
      'claim ns/c0, request r needs 3 devices of class gpu: 3 devices on this node, 1 allocated already, 2 not enough of shared counters',
    ],
    [
      'are not given if the whole device is',
      {claims: only(request('r')), slices, taken: ['whole']},
      'claim ns/c0, request r needs 1 device of class gpu: 3 devices on this node, 2 not enough of shared counters, 1 allocated already',
    ],
  ])('%s', (_title, input, expected) => {
    if (typeof expected === 'string') expect(choose(input)).toMatch(/not enough of shared counters/);
    else expect(choose(input)).toEqual(expected);
  });

  test('without their counters make a pool invalid', () => {
    const broken = [aSlice([{name: 'a', consumesCounters: counters('1Gi')}])];
    expect(choose({claims: only(request('r')), slices: broken})).toContain(
      'is invalid: counter set card not found',
    );
  });
});

test('a result has the configuration of class and claim, tolerations, and the nodes of its devices', () => {
  const opaque = (mode: string) => ({opaque: {driver: DRIVER, parameters: {mode}}});
  const outcome = run({
    claims: [
      {
        requests: [request('r', {tolerations: [{operator: 'Exists'}], adminAccess: true}), request('s')],
        config: [{requests: ['s'], ...opaque('s')}, {requests: ['x'], ...opaque('x')}, opaque('all')],
      },
    ],
    classes: [aClass('gpu', {config: [opaque('class')]})],
    slices: [aSlice(named('a', 'b'), {nodeName: 'n1'})],
  });
  expect(outcome).toEqual({
    kind: 'allocated',
    allocations: [
      {
        devices: {
          results: [
            {
              request: 'r',
              driver: DRIVER,
              pool: 'pool',
              device: 'a',
              adminAccess: true,
              tolerations: [{operator: 'Exists'}],
            },
            {request: 's', driver: DRIVER, pool: 'pool', device: 'b'},
          ],
          config: [
            {source: 'FromClass', requests: ['r', 's'], ...opaque('class')},
            {source: 'FromClaim', requests: ['s'], ...opaque('s')},
            {source: 'FromClaim', ...opaque('all')},
          ],
        },
        nodeSelector: {
          nodeSelectorTerms: [{matchFields: [{key: 'metadata.name', operator: 'In', values: ['n1']}]}],
        },
      },
    ],
  });
});

test('a search for devices that cannot be combined is given up', () => {
  const devices = Array.from({length: 60}, (_, index) => text(`d${index}`, {root: String(index % 20)}));
  const claims = [{requests: [request('r', {count: 10})], constraints: [{matchAttribute: `${DRIVER}/root`}]}];
  expect(choose({claims, slices: [aSlice(devices)]})).toContain('constraint #0 is not satisfied');
  const hard = [
    {requests: [request('r', {count: 30})], constraints: [{distinctAttribute: `${DRIVER}/root`}]},
  ];
  expect(choose({claims: hard, slices: [aSlice(devices)]})).toMatch(
    /gave up after \d+ attempts to combine devices$/,
  );
});

describe('whatever is asked for', () => {
  /** Returns numbers from 0 to `below`, the same for the same seed. */
  function numbers(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
  }

  test.each(Array.from({length: 60}, (_, seed) => seed))('no device is given twice (seed %i)', (seed) => {
    const next = numbers(seed + 1);
    const devices = Array.from({length: 1 + next(8)}, (_, index) =>
      text(`d${index}`, {root: String(next(3))}),
    );
    const taken = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      const claims = Array.from({length: 1 + next(2)}, () => ({
        requests: Array.from({length: 1 + next(2)}, (_, index) => request(`r${index}`, {count: 1 + next(2)})),
        constraints:
          next(2) === 0 ? [] : [{[next(2) === 0 ? 'matchAttribute' : 'distinctAttribute']: `${DRIVER}/root`}],
      }));
      const outcome = run({claims, slices: [aSlice(devices)], taken: [...taken]});
      if (outcome.kind === 'short') continue;
      const given = outcome.allocations.flatMap((one) => one.devices.results.map(({device}) => device));
      const wanted = claims.flatMap(({requests}) => requests.map(({exactly}) => exactly?.count ?? 0));
      expect(given).toHaveLength(wanted.reduce((sum, count) => sum + count, 0));
      expect(new Set([...taken, ...given]).size).toBe(taken.size + given.length);
      for (const device of given) taken.add(device);
    }
  });
});
