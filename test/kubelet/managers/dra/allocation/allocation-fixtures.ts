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

export const DRIVER = 'dra.example.com';
const {matches} = createDeviceSelectors();

export const aClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  ...{apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: {name}},
  spec,
});

export const cel = (expression: string) => ({cel: {expression}});

export function aSlice(
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

export const request = (name: string, exactly: Partial<DeviceRequest['exactly']> = {}): DeviceRequest => ({
  name,
  exactly: {deviceClassName: 'gpu', ...exactly},
});

export const named = (...names: readonly string[]): readonly OfferedDevice[] => names.map((name) => ({name}));
export const text = (name: string, attributes: Readonly<Record<string, string>>): OfferedDevice => ({
  name,
  attributes: Object.fromEntries(Object.entries(attributes).map(([key, string]) => [key, {string}])),
});

export interface Case {
  readonly claims: readonly ResourceClaimSpec['devices'][];
  readonly slices: readonly ResourceSlice[];
  readonly classes?: readonly DeviceClass[];
  readonly taken?: readonly (string | Partial<AllocatedDevice>)[];
}

export function run({claims, slices, classes = [aClass('gpu')], taken = []}: Case) {
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
  const steps = allocateDevices(input);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Returns the devices of each claim as `request=device`, or why there are none. */
export function choose(input: Case): readonly string[] | string {
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

export const only = (...requests: readonly DeviceRequest[]): readonly ResourceClaimSpec['devices'][] => [
  {requests},
];
export const ABC = aSlice(named('a', 'b', 'c'));
