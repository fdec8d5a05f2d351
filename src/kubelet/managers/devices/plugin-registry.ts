import {join} from 'node:path';
import {isExtendedResource} from '../../../api/validation/validate-resources.js';
import {runInBackground} from '../../../base/async/background-work.js';
import type {Clock} from '../../../base/clock.js';
import {isExpectedError, messageOf, SystemError} from '../../../base/errors.js';
import type {FileLogger} from '../../../base/logger.js';
import {goQuote} from '../../../format/go-quote.js';
import type {RegisterRequest} from '../../../plugin-api/gen/device-plugin/types.js';
import type {ServedCall} from '../../../plugin-api/served-service.js';
import type {DeviceManager} from './device-manager.js';
import {PluginConnection} from './plugin-connection.js';

const VERSION = 'v1beta1';
/** Connections of one resource that are kept. A plugin that registers again and again must not fill the memory. */
const MAX_CONNECTIONS = 8;

/** What PluginRegistry works with. */
export interface PluginRegistryOptions {
  readonly manager: Pick<DeviceManager, 'connect' | 'disconnect' | 'update'>;
  /** Directory of the plugins' sockets. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: FileLogger;
  /** Called for each registration by gRPC. */
  readonly onRegister: (resource: string) => void;
}

/** Device plugins that are connected (plugin/v1beta1 server). */
export class PluginRegistry {
  readonly #options: PluginRegistryOptions;
  /** Current connection by resource. */
  readonly #current = new Map<string, PluginConnection>();
  /** All connections by resource, the oldest first: a replaced one is followed until it ends. */
  readonly #open = new Map<string, Set<PluginConnection>>();
  #isClosed = false;

  constructor(options: PluginRegistryOptions) {
    this.#options = options;
  }

  /** Registers a plugin that called Register. Rejects with SystemError. */
  async register({version, endpoint, resourceName}: RegisterRequest, call: ServedCall): Promise<void> {
    const {logger, directory, onRegister} = this.#options;
    logger.info('Got registration request from device plugin with resource', {resourceName});
    onRegister(resourceName);
    try {
      if (version !== VERSION)
        throw new SystemError(
          `requested API version ${goQuote(version)} is not supported by kubelet. Supported version is ["${VERSION}"]`,
        );
      if (!isExtendedResource(resourceName))
        throw new SystemError(`the ResourceName ${goQuote(resourceName)} is invalid`);
      await this.connect(resourceName, join(directory, endpoint), call);
    } catch (error) {
      if (isExpectedError(error))
        logger.error(error, 'Bad registration request from device plugin with resource', {resourceName});
      throw error;
    }
  }

  /** Returns why a plugin of the plugin watcher cannot be registered; undefined if it can (ValidatePlugin). */
  validate(name: string, versions: readonly string[]): string | undefined {
    if (!versions.includes(VERSION))
      return `manager version, ${VERSION}, is not among plugin supported versions [${versions.join(' ')}]`;
    if (!isExtendedResource(name))
      return `invalid name of device plugin socket: the ResourceName ${goQuote(name)} is invalid`;
    return undefined;
  }

  /** Connects to the plugin of a resource, which replaces an earlier one. Rejects with SystemError. */
  async connect(resource: string, path: string, call: ServedCall): Promise<void> {
    const {manager, clock} = this.#options;
    const connection = await PluginConnection.open(path, clock, call);
    if (this.#isClosed) {
      connection.close();
      return;
    }
    this.#current.set(resource, connection);
    this.#keep(resource, connection);
    manager.connect(resource, connection);
    runInBackground('device manager', this.#follow(resource, connection));
  }

  #keep(resource: string, connection: PluginConnection): void {
    const open = this.#open.get(resource) ?? new Set();
    this.#open.set(resource, open.add(connection));
    const [oldest] = open;
    if (open.size <= MAX_CONNECTIONS || oldest === undefined) return;
    open.delete(oldest);
    oldest.close();
  }

  /** Follows the devices of a plugin until it ends. Never rejects with expected errors. */
  async #follow(resource: string, connection: PluginConnection): Promise<void> {
    const {manager, logger} = this.#options;
    let reason = 'EOF';
    try {
      for await (const devices of connection.listAndWatch()) await manager.update(resource, devices);
    } catch (error) {
      if (!isExpectedError(error)) throw error;
      reason = messageOf(error);
    }
    const wasOpen = this.#open.get(resource)?.delete(connection) === true;
    connection.close();
    if (this.#isClosed || !wasOpen) return;
    logger.error(reason, 'ListAndWatch ended unexpectedly for device plugin', {resource});
    // As in a kubelet, the end of any plugin of the resource ends the current one.
    this.disconnect(resource);
  }

  /** Ends the current plugin of a resource, if there is one (DeRegisterPlugin). */
  disconnect(resource: string): void {
    const connection = this.#current.get(resource);
    if (connection === undefined) return;
    this.#current.delete(resource);
    this.#open.get(resource)?.delete(connection);
    connection.close();
    this.#options.manager.disconnect(resource);
    this.#options.logger.info('Device plugin disconnected', {resource}, 2);
  }

  /** Ends all connections. */
  close(): void {
    this.#isClosed = true;
    for (const open of this.#open.values()) for (const connection of open) connection.close();
  }
}
