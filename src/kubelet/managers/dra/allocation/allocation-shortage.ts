import type {DevicePool, PoolDevice} from './device-pools.js';
import {requestName, type PlannedRequest} from './device-requests.js';

/** What a search has found about the devices of a node. */
interface SearchedDevices {
  readonly pools: readonly DevicePool[];
  /** Devices of the pools that can be used. */
  readonly devices: readonly PoolDevice[];
  /** Why devices were refused for the request, by device. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** Describes which request has too few devices, and why each device is not for it. */
export function explainShortage(
  request: PlannedRequest,
  {pools, devices, refusals}: SearchedDevices,
): string {
  const {claim, name, alternatives} = request;
  const wanted = alternatives.map((one) => {
    const count = one.takesAll ? 'all devices' : countDevices(one.count);
    const of = `${count} of class ${one.deviceClass.metadata.name ?? ''}`;
    return one.name === undefined ? of : `${of} (${requestName(request, one)})`;
  });
  const counts = new Map<string, number>();
  for (const reason of refusals.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`);
  const faulty = pools.flatMap(({driver, name: pool, problem}) =>
    problem === undefined ? [] : [`pool ${driver}/${pool} is ${problem.kind}: ${problem.text}`],
  );
  const found =
    devices.length === 0 && faulty.length === 0
      ? ['no ResourceSlice has devices for this node']
      : [`${countDevices(devices.length)} on this node`, ...reasons, ...faulty];
  return `claim ${claim.namespace}/${claim.name}, request ${name} needs ${wanted.join(' or ')}: ${found.join(', ')}`;
}

function countDevices(count: number): string {
  return count === 1 ? '1 device' : `${count} devices`;
}
