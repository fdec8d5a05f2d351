/** Identity of a device: driver, pool and name. */
export interface DeviceId {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** Returns `driver/pool/device`, which is unique for each device. */
export function deviceKey({driver, pool, device}: DeviceId): string {
  return `${driver}/${pool}/${device}`;
}
