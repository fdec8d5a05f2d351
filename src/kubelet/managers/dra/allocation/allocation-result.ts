import type {OfferedDevice} from '../../../../api/types/v1-device-resources.js';
import type {NodeSelectorRequirement} from '../../../../api/types/v1-scheduling.js';
import type {
  AllocatedConfiguration,
  AllocatedDevice,
  Allocation,
  AllocationInput,
  ClaimToAllocate,
} from './allocation-types.js';
import {formatCapacity} from './device-capacity.js';
import {requestName, type Choice} from './device-requests.js';

/** Returns the allocation of a claim to the devices that were chosen for it, with their configuration. */
export function createAllocation(
  choices: readonly Choice[],
  claim: ClaimToAllocate,
  {node, newShareId}: Pick<AllocationInput, 'node' | 'newShareId'>,
): Allocation {
  const config = [...classConfiguration(choices), ...claimConfiguration(choices, claim)];
  const nodeSelector = selectNodes(choices, node.name);
  return {
    devices: {
      results: choices.map((choice) => toResult(choice, newShareId)),
      ...(config.length > 0 && {config}),
    },
    ...(nodeSelector !== undefined && {nodeSelector}),
  };
}

function toResult(
  {request, alternative, device, consumed}: Choice,
  newShareId: () => string,
): AllocatedDevice {
  const {adminAccess, tolerations} = alternative;
  return {
    request: requestName(request, alternative),
    ...device.id,
    ...(adminAccess && {adminAccess}),
    ...(tolerations.length > 0 && {tolerations}),
    ...(consumed !== undefined && {shareID: newShareId()}),
    ...(consumed !== undefined &&
      consumed.size > 0 && {consumedCapacity: formatCapacity(device.device, consumed)}),
  };
}

/** Returns the configuration of the classes, each once with all requests for it. */
function classConfiguration(choices: readonly Choice[]): readonly AllocatedConfiguration[] {
  const classes = new Map(
    choices.map(({alternative}) => [alternative.deviceClass.metadata.name, alternative]),
  );
  return [...classes].flatMap(([name, {deviceClass}]) => {
    const requests = choices
      .filter(({alternative}) => alternative.deviceClass.metadata.name === name)
      .map(({request, alternative}) => requestName(request, alternative));
    return (deviceClass.spec.config ?? []).map((config) => ({
      ...{source: 'FromClass' as const, requests: [...new Set(requests)]},
      ...config,
    }));
  });
}

/** Returns the configuration of the claim for its requests; that of an alternative only if it was chosen. */
function claimConfiguration(
  choices: readonly Choice[],
  {spec}: ClaimToAllocate,
): readonly AllocatedConfiguration[] {
  const names = new Set(
    choices.flatMap(({request, alternative}) => [request.name, requestName(request, alternative)]),
  );
  return (spec.devices.config ?? [])
    .filter(({requests = []}) => requests.length === 0 || requests.some((name) => names.has(name)))
    .map((config) => ({source: 'FromClaim' as const, ...config}));
}

/** Returns the nodes on which all devices can be used; undefined if that are all nodes (createNodeSelector). */
function selectNodes(choices: readonly Choice[], nodeName: string): Allocation['nodeSelector'] {
  const isLocal = choices.some(
    (choice) => placeOf(choice).nodeName !== undefined || choice.device.device.bindsToNode === true,
  );
  if (isLocal)
    return {
      nodeSelectorTerms: [{matchFields: [{key: 'metadata.name', operator: 'In', values: [nodeName]}]}],
    };
  const terms = choices.flatMap((choice) => placeOf(choice).nodeSelector?.nodeSelectorTerms ?? []);
  const matchFields = distinct(terms.flatMap((term) => term.matchFields ?? []));
  const matchExpressions = distinct(terms.flatMap((term) => term.matchExpressions ?? []));
  if (matchFields.length + matchExpressions.length === 0) return undefined;
  return {
    nodeSelectorTerms: [
      {...(matchFields.length > 0 && {matchFields}), ...(matchExpressions.length > 0 && {matchExpressions})},
    ],
  };
}

/** Returns what says which nodes have a device: itself, or its slice. */
function placeOf({device: {slice, device}}: Choice): Pick<OfferedDevice, 'nodeName' | 'nodeSelector'> {
  return slice.perDeviceNodeSelection === true ? device : slice;
}

function distinct(requirements: readonly NodeSelectorRequirement[]): readonly NodeSelectorRequirement[] {
  return [...new Map(requirements.map((one) => [JSON.stringify(one), one])).values()];
}
