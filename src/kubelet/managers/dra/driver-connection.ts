import type {Clock} from '../../../base/clock.js';
import {CriError} from '../../../cri/index.js';
import {
  connectDraDriver,
  connectDraHealth,
  draService,
  type DraVersion,
  type PluginClient,
} from '../../../plugin-api/connect-plugin.js';
import type {DRAPlugin} from '../../../plugin-api/gen/dra/services.js';
import type {Claim, PreparedClaim, UnpreparedClaim} from '../../../plugin-api/gen/dra/types.js';
import type {DeviceHealth} from '../../../plugin-api/gen/dra-health/types.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {ReportedDevice} from './core/device-health.js';

/** Limit of each call in ms (defaultClientCallTimeout). */
const CALL_TIMEOUT_MS = 45_000;
/** Time after which the health of a device is unknown, in ms, if the driver names none (DefaultHealthTimeout). */
const HEALTH_TIMEOUT_MS = 30_000;
/** Longest message about the health of a device (ResourceHealthMessageMaxLength). */
const MAX_MESSAGE_LENGTH = 1024;

/** Calls of a DRA driver. They reject with CriError, and with the signal's reason. */
export interface DriverCalls {
  readonly prepare: (claims: readonly Claim[], signal?: AbortSignal) => Promise<readonly PreparedClaim[]>;
  readonly unprepare: (claims: readonly Claim[], signal?: AbortSignal) => Promise<readonly UnpreparedClaim[]>;
}

/** What a connection works with. */
export interface DriverConnectionOptions {
  readonly driver: string;
  readonly endpoint: string;
  readonly version: DraVersion;
  readonly clock: Clock;
  readonly metrics: Pick<KubeletMetrics, 'draCallCompleted'>;
}

/** Calls of a DRA driver at its socket, each on a connection of its own: drivers restart, and calls are rare (DRAPlugin). */
export class DriverConnection implements DriverCalls {
  readonly #options: DriverConnectionOptions;
  /** Connections of the calls in progress. */
  readonly #open = new Set<PluginClient<DRAPlugin>>();

  constructor(options: DriverConnectionOptions) {
    this.#options = options;
  }

  readonly prepare: DriverCalls['prepare'] = async (claims, signal) => {
    const options = {timeoutMs: CALL_TIMEOUT_MS, ...(signal && {signal})};
    const answer = await this.#call('NodePrepareResources', (driver) =>
      driver.nodePrepareResources({claims}, options),
    );
    return answer.claims;
  };

  readonly unprepare: DriverCalls['unprepare'] = async (claims, signal) => {
    const options = {timeoutMs: CALL_TIMEOUT_MS, ...(signal && {signal})};
    const answer = await this.#call('NodeUnprepareResources', (driver) =>
      driver.nodeUnprepareResources({claims}, options),
    );
    return answer.claims;
  };

  async #call<T>(rpc: string, call: (driver: DRAPlugin) => Promise<T>): Promise<T> {
    const {endpoint, version} = this.#options;
    const client = connectDraDriver(endpoint, version);
    this.#open.add(client);
    try {
      return await this.#measured(rpc, call(client));
    } finally {
      this.#open.delete(client);
      client.close();
    }
  }

  async #measured<T>(rpc: string, call: Promise<T>): Promise<T> {
    const {driver, version, clock, metrics} = this.#options;
    const startedAt = clock.monotonic();
    const completed = (code: string): void => {
      const method = `/${draService(version)}/${rpc}`;
      metrics.draCallCompleted({driver, method, code, durationMs: clock.monotonic() - startedAt});
    };
    try {
      const result = await call;
      completed('OK');
      return result;
    } catch (error) {
      completed(error instanceof CriError ? error.goCode : 'Canceled');
      throw error;
    }
  }

  /**
   * Yields the devices of the driver with their health until the signal aborts or the stream ends. Rejects with CriError, also of
   * a driver that does not report it.
   */
  async *watchHealth(signal: AbortSignal): AsyncGenerator<readonly ReportedDevice[]> {
    const client = connectDraHealth(this.#options.endpoint);
    try {
      for await (const {devices} of client.nodeWatchResources({}, {signal})) yield devices.map(toReported);
    } finally {
      client.close();
    }
  }

  /** Ends the calls in progress. */
  close(): void {
    for (const client of this.#open) client.close();
  }
}

const HEALTH = {UNKNOWN: 'Unknown', HEALTHY: 'Healthy', UNHEALTHY: 'Unhealthy'} as const;

/** Returns the health that a driver has reported (buildDeviceHealth). */
function toReported({
  device,
  health,
  healthCheckTimeoutSeconds: seconds,
  message,
}: DeviceHealth): ReportedDevice {
  const {poolName = '', deviceName = ''} = device ?? {};
  const short =
    message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 3)}...` : message;
  return {
    ...{poolName, deviceName},
    // An unknown number of an enum has no name.
    health: Object.hasOwn(HEALTH, health) ? HEALTH[health] : 'Unknown',
    timeoutMs: seconds > 0n ? Number(seconds) * 1000 : HEALTH_TIMEOUT_MS,
    ...(short !== '' && {message: short}),
  };
}
