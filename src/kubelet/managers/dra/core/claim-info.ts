/** A device of a prepared claim. A list is undefined if the driver gave none, as a kubelet stores it. */
export interface ClaimDevice {
  readonly poolName: string;
  readonly deviceName: string;
  readonly shareId: string | undefined;
  /** Requests of the claim that the device is for; all of them if there are none. */
  readonly requestNames: readonly string[] | undefined;
  readonly cdiDeviceIds: readonly string[] | undefined;
}

/** Devices of a claim by driver; undefined for a driver that has given none. */
export type DriverDevices = ReadonlyMap<string, readonly ClaimDevice[] | undefined>;

/** What is stored of a claim (state ClaimInfoState). */
export interface ClaimState {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Pods that use the claim, or have tried to. */
  readonly podUids: ReadonlySet<string>;
  /** All drivers of the claim. */
  readonly drivers: DriverDevices;
}

/** A claim that pods of this node use (ClaimInfo). */
export interface ClaimInfo extends ClaimState {
  /** Devices that an earlier kubelet has stored; those of this one follow them. */
  readonly restored: DriverDevices;
  /** True if this kubelet has prepared it: after a restart, the next new sandbox prepares it again. */
  readonly isPrepared: boolean;
}

/** Returns a claim of an earlier kubelet (newClaimInfoFromState). */
export function restoredClaim(state: ClaimState): ClaimInfo {
  return {...state, restored: state.drivers, isPrepared: false};
}

/** Returns a claim that nothing was done for (newClaimInfoFromClaim). */
export function newClaim({
  drivers,
  ...identity
}: Pick<ClaimState, 'uid' | 'name' | 'namespace'> & {readonly drivers: Iterable<string>}): ClaimInfo {
  const none: DriverDevices = new Map([...drivers].map((driver) => [driver, undefined]));
  return {...identity, podUids: new Set(), drivers: none, restored: none, isPrepared: false};
}

/**
 * Returns the claim with the devices that a driver has given. They follow those of an earlier kubelet, as in a kubelet, which
 * also keeps those of failed attempts; here they are replaced.
 */
export function withDevices(claim: ClaimInfo, driver: string, devices: readonly ClaimDevice[]): ClaimInfo {
  const restored = claim.restored.get(driver);
  const all = devices.length === 0 ? restored : [...(restored ?? []), ...devices];
  return {...claim, drivers: new Map(claim.drivers).set(driver, all)};
}

/** The claims that pods of this node use, by namespace and name (claimInfoCache). */
export class ClaimCache {
  readonly #claims = new Map<string, ClaimInfo>();

  get(namespace: string, name: string): ClaimInfo | undefined {
    return this.#claims.get(`${namespace}/${name}`);
  }

  put(claim: ClaimInfo): void {
    this.#claims.set(`${claim.namespace}/${claim.name}`, claim);
  }

  delete({namespace, name}: Pick<ClaimInfo, 'namespace' | 'name'>): void {
    this.#claims.delete(`${namespace}/${name}`);
  }

  all(): readonly ClaimInfo[] {
    return [...this.#claims.values()];
  }

  /** Returns the claims that a pod uses. */
  ofPod(uid: string): readonly ClaimInfo[] {
    return this.all().filter(({podUids}) => podUids.has(uid));
  }
}

/** Driver under which the metric of claims in use counts those of all drivers (DRAResourceClaimsInUseAnyDriver). */
const ANY_DRIVER = '<any>';

/** Returns the numbers of prepared claims by driver, and of all (claimsInUse). */
export function countClaimsInUse(claims: readonly ClaimInfo[]): ReadonlyMap<string, number> {
  const prepared = claims.filter(({isPrepared}) => isPrepared);
  const counts = new Map([[ANY_DRIVER, prepared.length]]);
  for (const {drivers} of prepared)
    for (const driver of drivers.keys()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
}
