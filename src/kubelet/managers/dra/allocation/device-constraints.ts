import type {DeviceAttribute, DeviceConstraint} from '../../../../api/types/v1-device-resources.js';
import type {PoolDevice} from './device-pools.js';
import type {Alternative, PlannedRequest} from './device-requests.js';

/** A request, the alternative of it that a device is for, and the device. */
interface Candidate {
  readonly request: Pick<PlannedRequest, 'name'>;
  readonly alternative: Alternative;
  readonly device: PoolDevice;
}

/**
 * A constraint of a claim and the devices that were chosen for the claim so far (matchAttributeConstraint,
 * distinctAttributeConstraint). Attributes of different types are different.
 */
export class ConstraintState {
  readonly #constraint: DeviceConstraint;
  readonly #concerned = new Map<Alternative, boolean>();
  readonly #values = new Map<PoolDevice, string | undefined>();
  /** How many chosen devices have a value. */
  readonly #chosen = new Map<string, number>();

  constructor(constraint: DeviceConstraint) {
    this.#constraint = constraint;
  }

  /** Reports whether a device can be chosen besides the others. */
  allows(candidate: Candidate): boolean {
    if (!this.#concerns(candidate)) return true;
    const value = this.#valueOf(candidate.device);
    if (value === undefined) return false;
    const isChosen = this.#chosen.has(value);
    return this.#constraint.matchAttribute === undefined ? !isChosen : isChosen || this.#chosen.size === 0;
  }

  /** Adds a device that was chosen, or with the sign −1 removes it. */
  add(candidate: Candidate, sign: 1 | -1): void {
    const value = this.#concerns(candidate) ? this.#valueOf(candidate.device) : undefined;
    if (value === undefined) return;
    const count = (this.#chosen.get(value) ?? 0) + sign;
    if (count === 0) this.#chosen.delete(value);
    else this.#chosen.set(value, count);
  }

  #concerns({request, alternative}: Candidate): boolean {
    const known = this.#concerned.get(alternative) ?? concerns(this.#constraint, request.name, alternative);
    this.#concerned.set(alternative, known);
    return known;
  }

  #valueOf(device: PoolDevice): string | undefined {
    if (!this.#values.has(device)) {
      const {matchAttribute, distinctAttribute} = this.#constraint;
      this.#values.set(device, attributeKey(device, matchAttribute ?? distinctAttribute ?? ''));
    }
    return this.#values.get(device);
  }
}

function concerns({requests = []}: DeviceConstraint, request: string, {name}: Alternative): boolean {
  if (requests.length === 0 || requests.includes(request)) return true;
  return name !== undefined && requests.includes(`${request}/${name}`);
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
