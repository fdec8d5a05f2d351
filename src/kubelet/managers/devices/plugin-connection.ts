import {anySignal} from '../../../base/async/any-signal.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, SystemError} from '../../../base/errors.js';
import {CriError} from '../../../cri/index.js';
import {connectDevicePlugin, type PluginClient} from '../../../plugin-api/connect-plugin.js';
import {dial} from '../../../plugin-api/dial.js';
import type {DevicePlugin} from '../../../plugin-api/gen/device-plugin/services.js';
import type {Device, DevicePluginOptions} from '../../../plugin-api/gen/device-plugin/types.js';
import type {ServedCall} from '../../../plugin-api/served-service.js';
import type {PluginCalls} from './core/plugin-calls.js';

/** Limit of PreStartContainer in ms (KubeletPreStartContainerRPCTimeoutInSecs). */
const PRE_START_TIMEOUT_MS = 30_000;
/**
 * Limit of calls that have no deadline in a kubelet, in ms: a plugin that does not answer must not hold up the admission of pods
 * forever. It is not sent to the plugin.
 */
const CALL_LIMIT_MS = 120_000;

/** A connection to a device plugin, and its calls. */
export class PluginConnection implements PluginCalls {
  readonly #client: PluginClient<DevicePlugin>;
  readonly #clock: Clock;
  readonly #options: DevicePluginOptions;

  private constructor(client: PluginClient<DevicePlugin>, clock: Clock, options: DevicePluginOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
  }

  /** Connects to the plugin at a socket, and asks for its options. Rejects with SystemError. */
  static async open(path: string, clock: Clock, call: ServedCall): Promise<PluginConnection> {
    const client = connectDevicePlugin(path);
    try {
      return new PluginConnection(client, clock, await readOptions(client, clock, call));
    } catch (error) {
      client.close();
      throw error;
    }
  }

  get needsPreStart(): boolean {
    return this.#options.preStartRequired;
  }

  get getPreferred(): PluginCalls['getPreferred'] {
    if (!this.#options.getPreferredAllocationAvailable) return undefined;
    return async ({available, mustInclude, required}) => {
      const request = {
        availableDeviceIDs: available,
        mustIncludeDeviceIDs: mustInclude,
        allocationSize: required,
      };
      const {containerResponses} = await withinLimit('GetPreferredAllocation', this.#clock, (signal) =>
        this.#client.getPreferredAllocation({containerRequests: [request]}, {signal}),
      );
      return containerResponses[0]?.deviceIDs ?? [];
    };
  }

  readonly allocate: PluginCalls['allocate'] = async (devicesIds) => {
    const {containerResponses} = await withinLimit('Allocate', this.#clock, (signal) =>
      this.#client.allocate({containerRequests: [{devicesIds}]}, {signal}),
    );
    const [response] = containerResponses;
    // The space is before the response, whose text is empty.
    if (response === undefined) throw new SystemError('no containers return in allocation response ');
    return response;
  };

  readonly preStart: PluginCalls['preStart'] = async (devicesIds) => {
    await this.#client.preStartContainer({devicesIds}, {timeoutMs: PRE_START_TIMEOUT_MS});
  };

  /** Yields the plugin's lists of devices; the next one is read when the last was handled. Rejects with CriError. */
  async *listAndWatch(): AsyncGenerator<readonly Device[]> {
    for await (const {devices} of this.#client.listAndWatch({})) yield devices;
  }

  /** Ends the connection and all its calls. */
  close(): void {
    this.#client.close();
  }
}

/** Asks for the options of a plugin, which need not listen yet (plugin/v1beta1 dial, PluginConnected). */
async function readOptions(
  client: PluginClient<DevicePlugin>,
  clock: Clock,
  {signal, timeoutMs}: ServedCall,
): Promise<DevicePluginOptions> {
  const ask = (limit: AbortSignal) => client.getDevicePluginOptions({}, {signal: limit, timeoutMs});
  const tooLate = (cause: Error): Error =>
    new SystemError('failed to dial device plugin: context deadline exceeded', {cause});
  try {
    return await dial(
      () => withinLimit('GetDevicePluginOptions', clock, ask, signal),
      clock,
      signal,
      tooLate,
    );
  } catch (cause) {
    if (!(cause instanceof CriError)) throw cause;
    throw new SystemError(`failed to get device plugin options: ${messageOf(cause)}`, {cause});
  }
}

async function withinLimit<T>(
  rpc: string,
  clock: Clock,
  call: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const tooLate = (): Error =>
    new SystemError(
      `rpc error: code = DeadlineExceeded desc = no answer to ${rpc} within ${CALL_LIMIT_MS / 1000}s`,
    );
  using limit = createDeadline(clock, CALL_LIMIT_MS, tooLate);
  using either = anySignal(limit.signal, ...(outer === undefined ? [] : [outer]));
  return await call(either.signal);
}
