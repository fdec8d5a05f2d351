import {expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';
import {issueMessages} from '../validation-cases.js';

type Fields = Readonly<Record<string, unknown>>;

const document = (kind: string, spec: Fields): string =>
  JSON.stringify({apiVersion: 'resource.k8s.io/v1', kind, metadata: {name: 'o'}, spec});

const claim = (devices: Fields): string => document('ResourceClaim', {devices});
const exactly = (fields: Fields): Fields => ({
  requests: [{name: 'r', exactly: {deviceClassName: 'gpu', ...fields}}],
});
const claimWith = (fields: Fields): string => claim({...exactly({}), ...fields});
const slice = (fields: Fields): string =>
  document('ResourceSlice', {
    ...{driver: 'd.example.com', pool: {name: 'p', generation: 1, resourceSliceCount: 1}, allNodes: true},
    ...fields,
  });
const device = (fields: Fields): string => slice({devices: [{name: 'dev', ...fields}]});

const REQUEST = 'spec.devices.requests[0]';
const EXACT = `${REQUEST}.exactly`;
const DEVICE = 'spec.devices[0]';

test.each<[string, string, string]>([
  [
    'no request',
    claim({requests: [{name: 'r'}]}),
    `${REQUEST}: Required value: exactly one of \`exactly\` or`,
  ],
  [
    'both kinds of requests',
    claim({
      requests: [
        {name: 'r', exactly: {deviceClassName: 'gpu'}, firstAvailable: [{name: 'a', deviceClassName: 'gpu'}]},
      ],
    }),
    `${REQUEST}: Invalid value: "r": exactly one of \`exactly\` or`,
  ],
  [
    'an invalid name',
    claim({requests: [{name: 'R', exactly: {deviceClassName: 'gpu'}}]}),
    `${REQUEST}.name: Invalid`,
  ],
  [
    'a name twice',
    claim({requests: [...(exactly({})['requests'] as []), ...(exactly({})['requests'] as [])]}),
    'spec.devices.requests[1].name: Duplicate value: "r"',
  ],
  ['no class', claim(exactly({deviceClassName: ''})), `${EXACT}.deviceClassName: Required value`],
  [
    'an unknown mode',
    claim(exactly({allocationMode: 'Some'})),
    `${EXACT}.allocationMode: Unsupported value: "Some"`,
  ],
  ['a negative count', claim(exactly({count: -1})), `${EXACT}.count: Invalid value: -1`],
  [
    'a count of all devices',
    claim(exactly({allocationMode: 'All', count: 2})),
    `${EXACT}.count: Invalid value: 2`,
  ],
  ['an empty selector', claim(exactly({selectors: [{}]})), `${EXACT}.selectors[0].cel: Required value`],
  [
    'an empty expression',
    claim(exactly({selectors: [{cel: {expression: ''}}]})),
    `${EXACT}.selectors[0].cel.expression: Required value`,
  ],
  [
    'too many selectors',
    claim(exactly({selectors: Array.from({length: 33}, () => ({cel: {expression: 'true'}}))})),
    `${EXACT}.selectors: Too many: 33: must have at most 32 items`,
  ],
  [
    'a toleration of all keys with a value',
    claim(exactly({tolerations: [{operator: 'Equal', value: 'v'}]})),
    `${EXACT}.tolerations[0].operator: Invalid value: "Equal": must be \`Exists\``,
  ],
  [
    'a toleration with a value that is not compared',
    claim(exactly({tolerations: [{key: 'k', operator: 'Exists', value: 'v'}]})),
    `${EXACT}.tolerations[0].value: Invalid value: "v": must be empty`,
  ],
  [
    'an unknown operator',
    claim(exactly({tolerations: [{key: 'k', operator: 'In'}]})),
    `${EXACT}.tolerations[0].operator: Unsupported value: "In"`,
  ],
  [
    'a constraint for an unknown request',
    claimWith({constraints: [{requests: ['x'], matchAttribute: 'd.example.com/root'}]}),
    'spec.devices.constraints[0].requests[0]: Not found: "x"',
  ],
  [
    'a constraint without an attribute',
    claimWith({constraints: [{}]}),
    'spec.devices.constraints[0].matchAttribute: Required value',
  ],
  [
    'an attribute without a domain',
    claimWith({constraints: [{distinctAttribute: 'root'}]}),
    'spec.devices.constraints[0].distinctAttribute: Invalid value: "root": a valid C identifier must be prefixed',
  ],
  ['an empty configuration', claimWith({config: [{}]}), 'spec.devices.config[0].opaque: Required value'],
  [
    'a configuration for no driver',
    claimWith({config: [{opaque: {driver: '', parameters: {}}}]}),
    'spec.devices.config[0].opaque.driver: Required value',
  ],
  [
    'a template without a class',
    document('ResourceClaimTemplate', {spec: {devices: exactly({deviceClassName: ''})}}),
    'spec.spec.devices.requests[0].exactly.deviceClassName: Required value',
  ],
  [
    'a class with a resource of Kubernetes',
    document('DeviceClass', {extendedResourceName: 'cpu'}),
    'spec.extendedResourceName: Invalid value: "cpu"',
  ],
  [
    'a class with an empty selector',
    document('DeviceClass', {selectors: [{}]}),
    'spec.selectors[0].cel: Required',
  ],
  ['a slice without a driver', slice({driver: ''}), 'spec.driver: Required value'],
  [
    'a slice without a place',
    slice({allNodes: false}),
    'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
  ],
  ['a slice with two places', slice({nodeName: 'n1'}), 'spec: Required value: exactly one of `nodeName`'],
  [
    'a pool without slices',
    slice({pool: {name: 'p', generation: 1, resourceSliceCount: 0}}),
    'spec.pool.resourceSliceCount: Invalid value: 0',
  ],
  [
    'devices beside counters',
    slice({devices: [{name: 'dev'}], sharedCounters: [{name: 'c', counters: {m: {value: '1'}}}]}),
    'spec: Invalid value: "p": only one of `devices` and `sharedCounters` may be set',
  ],
  [
    'a device twice',
    slice({devices: [{name: 'a'}, {name: 'a'}]}),
    'spec.devices[1].name: Duplicate value: "a"',
  ],
  [
    'an attribute of two types',
    device({attributes: {a: {int: 1, string: 'x'}}}),
    `${DEVICE}.attributes[a]: Invalid value`,
  ],
  [
    'too many attributes',
    device({attributes: Object.fromEntries(Array.from({length: 33}, (_, index) => [`a${index}`, {int: 1}]))}),
    `${DEVICE}: Too many: 33`,
  ],
  [
    'a taint without a key',
    device({taints: [{key: '', effect: 'NoSchedule'}]}),
    `${DEVICE}.taints[0].key: Required`,
  ],
  [
    'an unknown effect',
    device({taints: [{key: 'k', effect: 'Evict'}]}),
    `${DEVICE}.taints[0].effect: Unsupported value: "Evict"`,
  ],
])('%s is refused', (_title, text, message) => {
  expect(issueMessages(text)).toEqual([expect.stringContaining(message)]);
});

test.each<[string, string]>([
  ['zero and empty text, which stand for the defaults', claim(exactly({count: 0, allocationMode: ''}))],
  [
    'more devices than a claim can have, in an alternative',
    claim({requests: [{name: 'r', firstAvailable: [{name: 'a', deviceClassName: 'gpu', count: 99}]}]}),
  ],
  [
    'a constraint for an alternative',
    claim({
      requests: [{name: 'r', firstAvailable: [{name: 'a', deviceClassName: 'gpu'}]}],
      constraints: [{requests: ['r/a'], matchAttribute: 'd.example.com/root'}],
    }),
  ],
  ['a toleration of everything', claim(exactly({tolerations: [{operator: 'Exists'}]}))],
  ['counters without devices', slice({sharedCounters: [{name: 'c', counters: {m: {value: '1'}}}]})],
  ['a class of an extended resource', document('DeviceClass', {extendedResourceName: 'example.com/gpu'})],
])('%s is valid', (_title, text) => {
  expect(issueMessages(text)).toEqual([]);
});

const SPEC = {
  ...{driver: 'd.example.com', pool: {name: 'p', generation: 1, resourceSliceCount: 1}},
  perDeviceNodeSelection: true,
};
/** Everything that a device of v1beta1 has in `basic`. */
const BASIC = {
  attributes: {a: {int: 1}},
  capacity: {m: {value: '1Gi', requestPolicy: {default: '1Gi', validValues: ['1Gi']}}},
  consumesCounters: [{counterSet: 'c', counters: {m: {value: '1'}}}],
  nodeName: 'n1',
  taints: [{key: 'k', value: 'v', effect: 'NoSchedule'}],
  ...{bindsToNode: true, bindingConditions: ['ready'], bindingFailureConditions: ['failed']},
  allowMultipleAllocations: true,
};
/** Everything that a request of v1beta1 has itself. */
const OWN = {
  ...{
    deviceClassName: 'gpu',
    selectors: [{cel: {expression: 'true'}}],
    allocationMode: 'ExactCount',
    count: 2,
  },
  ...{adminAccess: true, tolerations: [{operator: 'Exists'}], capacity: {requests: {m: '1Gi'}}},
};
const ALTERNATIVES = [{name: 'a', deviceClassName: 'gpu', count: 2}];

/** Returns the spec of the only object of a manifest, as the newest version. */
function specOf(apiVersion: string, kind: string, spec: Fields): unknown {
  const text = JSON.stringify({
    apiVersion: `resource.k8s.io/${apiVersion}`,
    kind,
    metadata: {name: 'o'},
    spec,
  });
  const {issues, objects} = loadManifest(text, {file: 'o.yaml'});
  expect(issues).toEqual([]);
  expect(objects).toMatchObject([{object: {apiVersion: 'resource.k8s.io/v1', kind}}]);
  const [{object} = {object: {}}] = objects;
  return (object as {readonly spec?: unknown}).spec;
}

const newClaim = {
  devices: {
    requests: [
      {name: 'r', exactly: OWN},
      {name: 's', firstAvailable: ALTERNATIVES},
    ],
  },
};
const oldClaim = {
  devices: {
    requests: [
      {name: 'r', ...OWN},
      {name: 's', firstAvailable: ALTERNATIVES},
    ],
  },
};
const newSlice = {...SPEC, devices: [{name: 'dev', ...BASIC}, {name: 'bare'}]};
const oldSlice = {...SPEC, nodeName: '', devices: [{name: 'dev', basic: BASIC}, {name: 'bare'}]};
const CLASS = {selectors: [{cel: {expression: 'true'}}], config: [{opaque: {driver: 'd', parameters: {}}}]};
const metadata = {labels: {a: 'b'}};

test.each<[string, string, Fields, Fields]>([
  ['v1beta1', 'ResourceClaim', oldClaim, newClaim],
  ['v1beta1', 'ResourceClaimTemplate', {metadata, spec: oldClaim}, {metadata, spec: newClaim}],
  ['v1beta1', 'ResourceSlice', oldSlice, newSlice],
  ['v1beta1', 'DeviceClass', CLASS, CLASS],
  ['v1beta2', 'ResourceClaim', newClaim, newClaim],
  ['v1beta2', 'ResourceClaimTemplate', {metadata, spec: newClaim}, {metadata, spec: newClaim}],
  ['v1beta2', 'ResourceSlice', newSlice, newSlice],
  ['v1beta2', 'DeviceClass', CLASS, CLASS],
])('%s %s is read as v1', (version, kind, older, newer) => {
  expect(specOf(version, kind, older)).toEqual(newer);
  expect(specOf('v1', kind, newer)).toEqual(newer);
});

test.each<[string, Fields, string]>([
  ['own fields beside alternatives', {count: 2, firstAvailable: ALTERNATIVES}, '"r": exactly one of'],
  ['no fields', {}, 'Required value: exactly one of'],
])('a request of v1beta1 with %s is refused', (_title, fields, message) => {
  const request = {name: 'r', ...fields};
  const text = claim({requests: [request]}).replace('resource.k8s.io/v1', 'resource.k8s.io/v1beta1');
  expect(issueMessages(text)[0]).toContain(message);
});
