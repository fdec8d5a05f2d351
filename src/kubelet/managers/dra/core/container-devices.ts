import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ResourceStatus} from '../../../../api/types/v1-status.js';
import {SystemError} from '../../../../base/errors.js';
import type {CDIDevice} from '../../../../cri/index.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {ClaimUse} from '../../../contract/resources/pod-resource-use.js';
import type {ClaimCache, ClaimDevice, ClaimInfo} from './claim-info.js';
import type {DeviceHealthState} from './device-health.js';
import {claimReference, claimsOfContainer} from './pod-claims.js';

/**
 * Returns the CDI devices of a container, in the order of its claims (Manager GetResources).
 *
 * @throws SystemError if one of its claims is not known.
 */
export function cdiDevicesOf(claims: ClaimCache, pod: Pod, container: Container): readonly CDIDevice[] {
  return claimsOfContainer(pod, container).flatMap(({name, requests}) => {
    const claim = knownClaim(claims, pod, name);
    return requests.flatMap((request) =>
      devicesOf(claim, request).flatMap(({device: {cdiDeviceIds = []}}) =>
        cdiDeviceIds.map((id) => ({name: id})),
      ),
    );
  });
}

function knownClaim(claims: ClaimCache, pod: Pod, name: string): ClaimInfo {
  const {namespace} = podRef(pod);
  const claim = claims.get(namespace, name);
  if (claim !== undefined) return claim;
  throw new SystemError(
    `internal error: unable to get claim info for ResourceClaim ${name} in namespace ${namespace}`,
  );
}

interface DriverDevice {
  readonly driver: string;
  readonly device: ClaimDevice;
}

/** Returns the devices for a request of a claim; those of all requests for an empty name. */
function devicesOf({drivers}: ClaimInfo, request: string): readonly DriverDevice[] {
  const all = [...drivers].flatMap(([driver, devices = []]) => devices.map((device) => ({driver, device})));
  return all.filter(({device: {requestNames = []}}) => {
    return request === '' || requestNames.length === 0 || requestNames.includes(request);
  });
}

/**
 * Returns the claims of a container with their devices for the pod resources API; none if one of them is not known
 * (GetDynamicResources). As in a kubelet, a device also has the CDI devices of those before it.
 */
export function claimUsesOf(claims: ClaimCache, pod: Pod, container: Container): readonly ClaimUse[] {
  try {
    return claimsOfContainer(pod, container).map(({name}) => describeClaim(knownClaim(claims, pod, name)));
  } catch (error) {
    if (error instanceof SystemError) return [];
    throw error;
  }
}

function describeClaim({name, namespace, drivers}: ClaimInfo): ClaimUse {
  const devices = [...drivers].flatMap(([driver, given = []]) =>
    given.map(({poolName: pool, deviceName: device, shareId = ''}, index) => ({
      ...{driver, pool, device, shareId},
      cdiDevices: given.slice(0, index + 1).flatMap(({cdiDeviceIds = []}) => cdiDeviceIds),
    })),
  );
  return {name, namespace, devices};
}

/** Returns the health of a device. */
export type HealthLookup = (driver: string, device: ClaimDevice) => DeviceHealthState;

/** Returns the health of the devices of a container for its status (UpdateAllocatedResourcesStatus). */
export function resourceStatusesOf(
  claims: ClaimCache,
  pod: Pod,
  {resources: {claims: used = []} = {}}: Container,
  healthOf: HealthLookup,
): readonly ResourceStatus[] {
  return used.flatMap(({name, request = ''}) => {
    const claim = findClaim(claims, pod, name);
    // The devices of a request have its name, without that of the alternative that was chosen (BaseRequestRef).
    const [base = ''] = request.split('/');
    const devices = claim === undefined ? [] : devicesOf(claim, base);
    const ids = devices.map(resourceId);
    const resources = devices.flatMap(({driver, device}, index) => {
      const resourceID = ids[index] ?? '';
      // Devices with one ID count once.
      return ids.indexOf(resourceID) < index ? [] : [{resourceID, ...healthOf(driver, device)}];
    });
    if (resources.length === 0) return [];
    return [{name: request === '' ? `claim:${name}` : `claim:${name}/${request}`, resources}];
  });
}

function findClaim(claims: ClaimCache, pod: Pod, entryName: string): ClaimInfo | undefined {
  const entry = pod.spec.resourceClaims?.find(({name}) => name === entryName);
  try {
    const reference = entry === undefined ? undefined : claimReference(pod, entry);
    return reference && claims.get(podRef(pod).namespace, reference.name);
  } catch (error) {
    if (error instanceof SystemError) return undefined; // not created yet
    throw error;
  }
}

/** Returns the ID of a device in a status: its first CDI device, if it has one. */
function resourceId({
  driver,
  device: {cdiDeviceIds: [first] = [], poolName, deviceName},
}: DriverDevice): string {
  return first ?? `${driver}/${poolName}/${deviceName}`;
}
