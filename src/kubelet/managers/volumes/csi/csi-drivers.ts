import {runInBackground} from '../../../../base/async/background-work.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {Logger} from '../../../../base/logger.js';
import type {PluginHandler, RegisteredPlugin} from '../../../contract/resources/plugin-handler.js';
import type {CsiCluster, CsiDriverInfo} from '../../../contract/volumes/csi-cluster.js';
import {CsiDriverClient} from './csi-driver-client.js';
import type {CsiMetrics} from './csi-metrics.js';
import {driverNotRegistered} from './driver-not-registered.js';
import {compareVersions, highestVersion, type Version} from './driver-version.js';

/** What the registry of drivers works with. */
export interface CsiDriversOptions {
  /** Cluster that is told of the drivers; none in a kubelet without a cluster. */
  readonly cluster: CsiCluster | undefined;
  readonly logger: Logger;
  readonly metrics: CsiMetrics;
  /** Called when a driver can be called. */
  readonly onRegistered: () => void;
  /** Called when a driver cannot be called anymore. */
  readonly onRemoved: () => void;
  /** Ends the removal of drivers from the cluster. */
  readonly signal: AbortSignal;
}

interface Driver {
  readonly endpoint: string;
  readonly version: Version;
}

/** Drivers that have registered with the plugin watcher (csi_plugin.go RegistrationHandler). */
export class CsiDrivers implements PluginHandler {
  readonly type = 'CSIPlugin';
  readonly #options: CsiDriversOptions;
  readonly #drivers = new Map<string, Driver>();
  /** Errors of failed registrations, by the name of the driver. */
  readonly #failures = new Map<string, string>();
  /** Errors of plugins that do not answer, by socket. */
  readonly #silent = new Map<string, string>();

  constructor(options: CsiDriversOptions) {
    this.#options = options;
  }

  /** Names of the drivers that can be called. */
  get names(): readonly string[] {
    return [...this.#drivers.keys()];
  }

  /** Asks a driver what it reports about the node. Rejects with SystemError and the signal's reason. */
  async info(name: string, signal: AbortSignal): Promise<CsiDriverInfo> {
    const driver = this.#drivers.get(name);
    if (driver === undefined) throw this.#notRegistered(name, 'failed to get CSI client');
    return await readDriverInfo(name, this.#connect(name, driver.endpoint), signal);
  }

  /**
   * Returns a client of a driver, whose calls are for a volume of a replaced kind or, by default, not. Throws SystemError if it is not
   * registered; `step` starts the message.
   */
  client(name: string, step: string, isMigrated?: boolean): CsiDriverClient {
    return this.#connect(name, this.endpoint(name, step), isMigrated);
  }

  /** Returns the socket of a driver. Throws SystemError if it is not registered; `step` starts the message. */
  endpoint(name: string, step: string): string {
    const driver = this.#drivers.get(name);
    if (driver === undefined) throw this.#notRegistered(name, step);
    return driver.endpoint;
  }

  isRegistered(name: string): boolean {
    return this.#drivers.has(name);
  }

  /** Notes that a plugin does not answer at its socket. */
  noteSilence(path: string, message: string): void {
    this.#silent.set(path, message);
  }

  /** Returns why a driver that may run cannot be called; undefined if nothing is known of it. */
  problemOf(name: string): string | undefined {
    const failure = this.#failures.get(name);
    if (failure !== undefined) return `its registration failed: ${failure}`;
    const silent = [...this.#silent].map(
      ([path, message]) => `${JSON.stringify(path)} does not answer: ${message}`,
    );
    return silent.length === 0 ? undefined : silent.join('; ');
  }

  #notRegistered(name: string, step: string): SystemError {
    return driverNotRegistered(name, step, this.problemOf(name));
  }

  #connect(name: string, endpoint: string, isMigrated = false): CsiDriverClient {
    return new CsiDriverClient(endpoint, [this.#options.metrics.observerOf(name, isMigrated)]);
  }

  validate({name, endpoint, versions}: RegisteredPlugin): string | undefined {
    const version = this.#checkVersions('ValidatePlugin', name, versions);
    return typeof version === 'string'
      ? `validation failed for CSI Driver ${name} at endpoint ${endpoint}: ${version}`
      : undefined;
  }

  async register({name, endpoint, versions}: RegisteredPlugin, signal: AbortSignal): Promise<void> {
    const version = this.#checkVersions('RegisterPlugin', name, versions);
    if (typeof version === 'string') throw new SystemError(version);
    this.#drivers.set(name, {endpoint, version});
    try {
      const info = await readDriverInfo(name, this.#connect(name, endpoint), signal);
      await this.#options.cluster?.installDriver(info, signal);
    } catch (error) {
      this.#remove(name);
      if (!signal.aborted) this.#failures.set(name, messageOf(error));
      throw error;
    }
    this.#failures.delete(name);
    this.#options.onRegistered();
  }

  deregister({name}: RegisteredPlugin): void {
    this.#remove(name);
  }

  /** Forgets a driver, and removes it from the cluster. */
  #remove(name: string): void {
    const {cluster, logger, signal} = this.#options;
    this.#drivers.delete(name);
    this.#options.onRemoved();
    if (cluster === undefined) return;
    const uninstall = async (): Promise<void> => {
      try {
        await cluster.uninstallDriver(name, signal);
      } catch (error) {
        if (signal.aborted) return;
        rethrowUnexpected(error);
        logger.forFile('csi-drivers.ts').error(error, 'Failed to uninstall CSI driver', {driver: name});
      }
    };
    runInBackground('CSI drivers', uninstall());
  }

  /** Returns the version of a driver, or why it cannot be used (validateVersions). */
  #checkVersions(caller: string, name: string, versions: readonly string[]): Version | string {
    const failed = `kubernetes.io/csi: ${caller} for CSI driver "${name}" failed.`;
    if (versions.length === 0) return `${failed} Plugin returned an empty list for supported versions`;
    const version = highestVersion(versions);
    if (typeof version === 'string') {
      const quoted = versions.map((each) => JSON.stringify(each)).join(' ');
      return `${failed} None of the versions specified [${quoted}] are supported. err=${version}`;
    }
    const known = this.#drivers.get(name);
    if (known !== undefined && compareVersions(known.version, version) >= 0)
      return `${failed} Another driver with the same name is already registered with a higher supported version: "${known.version.join('.')}"`;
    return version;
  }
}

/** Labels of a node are limited, and so is the topology that a driver reports. */
const MOST_SEGMENTS = 128;

async function readDriverInfo(
  name: string,
  client: CsiDriverClient,
  signal: AbortSignal,
): Promise<CsiDriverInfo> {
  const info = await client.info(signal);
  const {nodeId, maxVolumesPerNode: most, accessibleTopology} = info;
  if (nodeId === '')
    throw new SystemError('error adding CSI driver node info: driverNodeID must not be empty');
  const topology = accessibleTopology?.segments ?? {};
  if (Object.keys(topology).length > MOST_SEGMENTS)
    throw new SystemError(`CSI driver "${name}" reports more than ${MOST_SEGMENTS} topology segments`);
  // Larger limits are cut, negative ones ignored.
  const maxVolumes = most < 0n ? 0 : Number(most > MAX_INT32 ? MAX_INT32 : most);
  return {name, nodeId, topology, maxVolumes};
}

const MAX_INT32 = 2n ** 31n - 1n;
