import type {DeviceAttribute, DeviceConstraint} from '../../../../api/types/v1-device-resources.js';
import type {PoolDevice} from './device-pools.js';

/** A device that is a candidate for a request; `request` has no name of an alternative. */
export interface Candidate {
  readonly request: string;
  /** Name of the alternative; undefined for a request without any. */
  readonly alternative: string | undefined;
  readonly device: PoolDevice;
}

/**
 * Reports whether a candidate satisfies the constraint together with the devices that were chosen before
 * (matchAttributeConstraint, distinctAttributeConstraint). Attributes of different types are different.
 */
export function satisfiesConstraint(
  constraint: DeviceConstraint,
  candidate: Candidate,
  chosen: readonly Candidate[],
): boolean {
  if (!concerns(constraint, candidate)) return true;
  const {matchAttribute, distinctAttribute} = constraint;
  const name = matchAttribute ?? distinctAttribute ?? '';
  const value = attributeKey(candidate.device, name);
  if (value === undefined) return false;
  const others = chosen
    .filter((one) => concerns(constraint, one))
    .map(({device}) => attributeKey(device, name));
  return matchAttribute === undefined ? !others.includes(value) : others.every((other) => other === value);
}

function concerns({requests = []}: DeviceConstraint, {request, alternative}: Candidate): boolean {
  if (requests.length === 0 || requests.includes(request)) return true;
  return alternative !== undefined && requests.includes(`${request}/${alternative}`);
}

/** Returns a text that is equal for equal values of an attribute; undefined if the device does not have it. */
function attributeKey(device: PoolDevice, name: string): string | undefined {
  const attribute = findAttribute(device, name);
  const [entry] = Object.entries(attribute ?? {});
  return entry && `${entry[0]}:${String(entry[1])}`;
}

/** Returns an attribute by its full name; the driver's own have no domain (lookupAttribute). */
function findAttribute({device, id}: PoolDevice, name: string): DeviceAttribute | undefined {
  const {attributes = {}} = device;
  if (Object.hasOwn(attributes, name)) return attributes[name];
  const at = name.indexOf('/');
  const own = name.slice(at + 1);
  return at > 0 && name.slice(0, at) === id.driver && Object.hasOwn(attributes, own)
    ? attributes[own]
    : undefined;
}
