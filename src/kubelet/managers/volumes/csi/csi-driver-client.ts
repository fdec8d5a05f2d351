import {CriError, type CallObserver, type GrpcCode, type Init} from '../../../../cri/index.js';
import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {connectCsiNode, type PluginClient} from '../../../../plugin-api/connect-plugin.js';
import type {Node} from '../../../../plugin-api/gen/csi/services.js';
import type {MessageTypes, Type as Capability} from '../../../../plugin-api/gen/csi/types.js';

/** Deadline of every call of a driver, in ms (csiTimeout). */
export const TIMEOUT_MS = 120_000;

/** What a driver can do on the node. */
export type Capabilities = ReadonlySet<Capability>;

/** Failure of a call of a driver, with the kubelet's message and without secrets. */
export class CsiCallError extends SystemError {
  /** False if the driver may have done the work, or may still be at it (isFinalError). */
  readonly isFinal: boolean;
  /** Code of the answer; undefined if there was none. */
  readonly grpcCode: GrpcCode | undefined;

  constructor(message: string, isFinal: boolean, grpcCode?: GrpcCode, hint = "look into the driver's log") {
    super(message, {hint});
    this.isFinal = isFinal;
    this.grpcCode = grpcCode;
  }
}

/** Codes after which the state of the volume is not known. */
const UNCERTAIN: ReadonlySet<GrpcCode> = new Set([
  'CANCELLED',
  'DEADLINE_EXCEEDED',
  'UNAVAILABLE',
  'RESOURCE_EXHAUSTED',
  'ABORTED',
]);

/** Calls the node service of a driver, each time on a connection of its own. Methods reject with CsiCallError and the signal's reason. */
export class CsiDriverClient {
  readonly #endpoint: string;
  readonly #observers: readonly CallObserver[];

  constructor(endpoint: string, observers: readonly CallObserver[] = []) {
    this.#endpoint = endpoint;
    this.#observers = observers;
  }

  async info(signal: AbortSignal): Promise<MessageTypes['NodeGetInfoResponse']> {
    return await this.#call((node, options) => node.nodeGetInfo({}, options), signal);
  }

  async capabilities(signal: AbortSignal): Promise<Capabilities> {
    const {capabilities} = await this.#call((node, options) => node.nodeGetCapabilities({}, options), signal);
    return new Set(capabilities.flatMap(({rpc}) => rpc?.type ?? []));
  }

  /** Measures a published volume. */
  async stats(
    request: Init<MessageTypes['NodeGetVolumeStatsRequest']>,
    signal: AbortSignal,
  ): Promise<MessageTypes['NodeGetVolumeStatsResponse']> {
    return await this.#call((node, options) => node.nodeGetVolumeStats(request, options), signal);
  }

  async stage(request: Init<MessageTypes['NodeStageVolumeRequest']>, signal: AbortSignal): Promise<void> {
    const {secrets} = request;
    await this.#call((node, options) => node.nodeStageVolume(request, options), signal, secrets);
  }

  async unstage(request: Init<MessageTypes['NodeUnstageVolumeRequest']>, signal: AbortSignal): Promise<void> {
    await this.#call((node, options) => node.nodeUnstageVolume(request, options), signal);
  }

  /** Publishes a volume; `secrets` must not appear in an error either. */
  async publish(
    request: Init<MessageTypes['NodePublishVolumeRequest']>,
    signal: AbortSignal,
    secrets: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#call((node, options) => node.nodePublishVolume(request, options), signal, secrets);
  }

  /** Enlarges a published volume. */
  async expand(request: Init<MessageTypes['NodeExpandVolumeRequest']>, signal: AbortSignal): Promise<void> {
    const {secrets} = request;
    await this.#call((node, options) => node.nodeExpandVolume(request, options), signal, secrets);
  }

  async unpublish(
    request: Init<MessageTypes['NodeUnpublishVolumeRequest']>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#call((node, options) => node.nodeUnpublishVolume(request, options), signal);
  }

  async #call<T>(
    call: (
      node: PluginClient<Node>,
      options: {readonly signal: AbortSignal; readonly timeoutMs: number},
    ) => Promise<T>,
    signal: AbortSignal,
    secrets: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const node = connectCsiNode(this.#endpoint, this.#observers);
    try {
      return await call(node, {signal, timeoutMs: TIMEOUT_MS});
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      throw toCallError(error, Object.values(secrets));
    } finally {
      node.close();
    }
  }
}

/** Returns the error without the values of secrets, which a driver may repeat in its message, and without its cause. */
export function toCallError(error: unknown, secrets: readonly string[]): CsiCallError {
  const {message} = error as Error;
  const hidden = secrets
    .filter((value) => value !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, value) => text.replaceAll(value, '***'), message);
  const code = error instanceof CriError ? error.grpcCode : undefined;
  return new CsiCallError(hidden, code !== undefined && !UNCERTAIN.has(code), code);
}
