import {createConnection} from 'node:net';
import {runInBackground} from '../../../base/async/background-work.js';
import {pause} from '../../../base/async/pause.js';
import {isExpectedError, messageOf, SystemError} from '../../../base/errors.js';
import type {FileLogger} from '../../../base/logger.js';
import type {ResourceApi} from '../../contract/cluster/resource-api.js';
import type {RegisteredPlugin} from '../../contract/resources/plugin-handler.js';
import type {ReportedDevice} from './core/device-health.js';
import {chooseVersion} from './core/driver-versions.js';
import {DriverConnection, type DriverCalls, type DriverConnectionOptions} from './driver-connection.js';

/** Pause before a driver is connected to again, to be told the health of its devices, in ms. */
const RECONNECT_MS = 5000;
/** Time after which the ResourceSlices of a driver that is away are deleted, in ms (defaultWipingDelay). */
const WIPING_DELAY_MS = 30_000;

/** What DriverRegistry works with. */
export interface DriverRegistryOptions extends Pick<DriverConnectionOptions, 'clock' | 'metrics'> {
  /** Undefined without an API server. */
  readonly api: Pick<ResourceApi, 'deleteSlices'> | undefined;
  readonly logger: FileLogger;
  /** Called with the devices that a driver reports. */
  readonly onHealth: (driver: string, devices: readonly ReportedDevice[]) => void;
  /** Called when a driver does not report any more. */
  readonly onHealthLost: (driver: string) => void;
}

/** A registered socket of a driver. */
interface Registration {
  readonly endpoint: string;
  readonly connection: DriverConnection;
  readonly ended: AbortController;
  /** True if something listened at the socket when that was tried last. */
  isConnected: boolean;
}

/** DRA drivers that have registered, each with one or more sockets (DRAPluginManager). */
export class DriverRegistry {
  readonly #options: DriverRegistryOptions;
  /** By driver, in the order of their registration. */
  readonly #drivers = new Map<string, readonly Registration[]>();
  /** Pending deletions of ResourceSlices by driver. */
  readonly #wipes = new Map<string, AbortController>();
  #isStopped = false;
  #isClosed = false;

  constructor(options: DriverRegistryOptions) {
    this.#options = options;
  }

  /** Returns why a driver cannot be registered; undefined if it can (ValidatePlugin). */
  validate(plugin: RegisteredPlugin): string | undefined {
    try {
      chooseVersion(plugin);
      return undefined;
    } catch (error) {
      if (!isExpectedError(error)) throw error;
      return messageOf(error);
    }
  }

  /** Registers a socket of a driver, and follows the health of its devices. Throws SystemError. */
  register(plugin: RegisteredPlugin): void {
    const {name: driver, endpoint} = plugin;
    const {clock, metrics, logger} = this.#options;
    const version = chooseVersion(plugin);
    const known = this.#drivers.get(driver) ?? [];
    if (known.some((other) => other.endpoint === endpoint))
      throw new SystemError(`endpoint ${endpoint} already registered for DRA driver plugin ${driver}`);
    const connection = new DriverConnection({driver, endpoint, version, clock, metrics});
    const registration = {endpoint, connection, ended: new AbortController(), isConnected: false};
    this.#drivers.set(driver, [...known, registration]);
    logger.info('Registered DRA plugin', {driverName: driver, endpoint, chosenService: version}, 3);
    this.#scheduleWipe(driver);
    runInBackground('DRA manager', this.#follow(driver, registration));
  }

  /** Forgets a socket of a driver, and ends its calls (DeRegisterPlugin). */
  deregister({name: driver, endpoint}: Pick<RegisteredPlugin, 'name' | 'endpoint'>): void {
    const known = this.#drivers.get(driver) ?? [];
    const registration = known.find((each) => each.endpoint === endpoint);
    if (registration === undefined) return;
    const others = known.filter((each) => each !== registration);
    if (others.length === 0) this.#drivers.delete(driver);
    else this.#drivers.set(driver, others);
    registration.ended.abort();
    registration.connection.close();
    this.#options.logger.info('Unregistered DRA plugin', {driverName: driver, endpoint}, 3);
    this.#scheduleWipe(driver);
  }

  /** Returns the calls of a driver: of its last socket that is connected. Throws SystemError if it is not registered. */
  get(driver: string): DriverCalls {
    if (driver === '') throw new SystemError('DRA driver name is empty');
    if (this.#isClosed) throw new SystemError('the kubelet is stopping');
    const known = this.#drivers.get(driver) ?? [];
    const chosen = known.findLast(({isConnected}) => isConnected) ?? known.at(-1);
    if (chosen === undefined) throw new SystemError(`DRA driver ${driver} is not registered`);
    return chosen.connection;
  }

  /** Stops following the drivers. They can still be called: pods may stop after that. */
  stopFollowing(): void {
    this.#isStopped = true;
    for (const registrations of this.#drivers.values()) for (const {ended} of registrations) ended.abort();
    for (const wipe of this.#wipes.values()) wipe.abort();
  }

  /** Ends the calls in progress, and refuses others. */
  close(): void {
    this.#isClosed = true;
    for (const registrations of this.#drivers.values())
      for (const {connection} of registrations) connection.close();
  }

  /** Follows whether the driver listens, and the health of its devices. Never rejects with expected errors. */
  async #follow(driver: string, registration: Registration): Promise<void> {
    const {signal} = registration.ended;
    while (!signal.aborted) {
      registration.isConnected = await isListening(registration.endpoint);
      this.#scheduleWipe(driver);
      if (registration.isConnected) await this.#watchHealth(driver, registration);
      await pause(this.#options.clock, RECONNECT_MS, signal).catch(() => undefined); // aborted
    }
  }

  async #watchHealth(driver: string, {connection, ended: {signal}}: Registration): Promise<void> {
    const {onHealth, onHealthLost, logger} = this.#options;
    let reports = false;
    try {
      for await (const devices of connection.watchHealth(signal)) {
        reports = true;
        onHealth(driver, devices);
      }
    } catch (error) {
      if (!signal.aborted && !isExpectedError(error)) throw error;
      logger.info('WatchResources health stream has ended', {driverName: driver, error: messageOf(error)}, 4);
    }
    if (reports) onHealthLost(driver);
  }

  /** Schedules the deletion of the ResourceSlices of a driver that is away, and cancels it when it is back (sync). */
  #scheduleWipe(driver: string): void {
    const {api} = this.#options;
    if (this.#isStopped) return;
    const isUsable = this.#drivers.get(driver)?.some(({isConnected}) => isConnected) === true;
    const pending = this.#wipes.get(driver);
    if (isUsable) {
      pending?.abort();
      this.#wipes.delete(driver);
    } else if (pending === undefined && api !== undefined) {
      const wipe = new AbortController();
      this.#wipes.set(driver, wipe);
      runInBackground('DRA manager', this.#wipe(driver, api, wipe));
    }
  }

  async #wipe(driver: string, api: Pick<ResourceApi, 'deleteSlices'>, wipe: AbortController): Promise<void> {
    try {
      await this.#options.clock.sleep(WIPING_DELAY_MS, wipe.signal);
      await api.deleteSlices(driver, wipe.signal);
    } catch (error) {
      if (!wipe.signal.aborted) throw error;
    }
    if (this.#wipes.get(driver) === wipe) this.#wipes.delete(driver);
  }
}

/** Resolves with whether a process accepts connections at a socket. */
async function isListening(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = createConnection(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}
