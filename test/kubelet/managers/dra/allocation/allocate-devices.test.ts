import {describe, expect, test} from 'vitest';
import {
  ABC,
  aClass,
  aSlice,
  cel,
  choose,
  DRIVER,
  named,
  only,
  request,
  run,
  text,
  type Case,
} from './allocation-fixtures.js';

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
      'claim ns/c0, request r, class gpu: selector #1: CEL compile error: No such key: x in "device.x"',
    ],
    [
      'at most 32 for a claim',
      {claims: only(request('r', {count: 33})), slices: [ABC]},
      'claim ns/c0: number of requested devices 33 exceeds the claim limit of 32',
    ],
    [
      'at most 32 for all requests of a claim',
      {
        claims: only(request('r', {count: 20}), request('all', {allocationMode: 'All'})),
        slices: [aSlice(named(...Array.from({length: 40}, (_, index) => `d${index}`)))],
      },
      'claim ns/c0: number of requested devices 60 exceeds the claim limit of 32',
    ],
    [
      'by an alternative that is not too much',
      {
        claims: only(request('r', {count: 31}), {
          name: 's',
          firstAvailable: [33, 2, 1].map((count) => ({name: `n${count}`, deviceClassName: 'gpu', count})),
        }),
        slices: [aSlice(named(...Array.from({length: 40}, (_, index) => `d${index}`)))],
      },
      [`${Array.from({length: 31}, (_, index) => `r=d${index}`).join(' ')} s/n1=d31`],
    ],
  ])('%s', (_title, input, expected) => {
    expect(choose(input)).toEqual(expected);
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
