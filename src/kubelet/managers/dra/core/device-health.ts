/** Health of a device in a status. */
export interface DeviceHealthState {
  readonly health: 'Healthy' | 'Unhealthy' | 'Unknown';
  readonly message?: string;
}

/** Health of a device, as a driver has reported it. */
export interface ReportedDevice extends DeviceHealthState {
  readonly poolName: string;
  readonly deviceName: string;
  /** Time after which the health is unknown without another report, in ms. */
  readonly timeoutMs: number;
}

/** Devices of a driver whose health is remembered: a driver must not fill the memory. */
const MAX_DEVICES = 4096;
const UNKNOWN: DeviceHealthState = {health: 'Unknown'};

type Remembered = ReportedDevice & {readonly reportedAt: number};

/** Health of the devices of all drivers (healthInfoCache). Times are in ms of the monotonic clock. */
export class DeviceHealth {
  readonly #drivers = new Map<string, ReadonlyMap<string, Remembered>>();

  /** Returns the health of a device; unknown if its last report is too old. */
  of(driver: string, {poolName, deviceName}: DeviceName, now: number): DeviceHealthState {
    const device = this.#drivers.get(driver)?.get(keyOf({poolName, deviceName}));
    if (device === undefined || isStale(device, now)) return UNKNOWN;
    const {health, message} = device;
    return {health, ...(message !== undefined && {message})};
  }

  /** Replaces the devices of a driver, and returns those that have changed (updateHealthInfo). */
  update(driver: string, reported: readonly ReportedDevice[], now: number): readonly DeviceName[] {
    const before = this.#drivers.get(driver) ?? new Map<string, Remembered>();
    const news = new Map(
      reported.slice(0, MAX_DEVICES).map((device) => [keyOf(device), {...device, reportedAt: now}]),
    );
    const unreported = [...before].filter(([key]) => !news.has(key));
    const stale = unreported.filter(([, device]) => isStale(device, now));
    const kept = unreported.filter(([, device]) => !isStale(device, now));
    this.#drivers.set(driver, new Map([...news, ...kept].slice(0, MAX_DEVICES)));
    const changed = [...news].filter(([key, device]) => isOther(device, before.get(key)));
    return [...changed, ...stale].map(([, device]) => device);
  }

  /** Forgets the devices of a driver (clearDriver). */
  clear(driver: string): void {
    this.#drivers.delete(driver);
  }
}

/** Name of a device in a pool of its driver. */
export type DeviceName = Pick<ReportedDevice, 'poolName' | 'deviceName'>;

function keyOf({poolName, deviceName}: DeviceName): string {
  return `${poolName}/${deviceName}`;
}

function isStale({reportedAt, timeoutMs}: Remembered, now: number): boolean {
  return now - reportedAt > timeoutMs;
}

function isOther(device: Remembered, before: Remembered | undefined): boolean {
  return (
    device.health !== before?.health ||
    device.message !== before.message ||
    device.timeoutMs !== before.timeoutMs
  );
}
