import {mkdtemp, readFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {removeTree} from '../../../../src/base/fs/remove-tree.js';
import type {ContainerStatus} from '../../../../src/api/types/v1-status.js';
import type {StoredObject} from '../../../fakes/api-server/object-storage.js';
import {FakeDraDriver, type FakeDraDriverOptions} from '../../../fakes/plugins/fake-dra-driver.js';
import {FakeRegistrar} from '../../../fakes/plugins/fake-registrar.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed, type ClusterTestbedOptions} from '../cluster-testbed.js';

export const DRIVER = 'dra.example.com';
export const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
const SLICES = '/apis/resource.k8s.io/v1/resourceslices';

/** Options of a driver that registers. */
export interface PlugOptions extends Omit<FakeDraDriverOptions, 'path'> {
  readonly name?: string;
  /** Versions of its registration, by default that of its service. */
  readonly versions?: readonly string[];
}

/** A driver that has registered. */
export interface PluggedDriver {
  readonly driver: FakeDraDriver;
  readonly registrar: FakeRegistrar;
}

/** A node of a cluster whose kubelet DRA drivers can register with. */
export class DraTestbed implements AsyncDisposable {
  readonly cluster: ClusterTestbed;
  readonly #directory: string;
  readonly #plugged: AsyncDisposable[] = [];

  private constructor(cluster: ClusterTestbed, directory: string) {
    this.cluster = cluster;
    this.#directory = directory;
  }

  static async start(options: ClusterTestbedOptions = {}): Promise<DraTestbed> {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-dra-'));
    const node = {devicePluginsDir: join(directory, 'devices'), ...options.node};
    return new DraTestbed(await ClusterTestbed.start(() => undefined, {...options, node}), directory);
  }

  get daemon(): ClusterTestbed['daemon'] {
    return this.cluster.daemon;
  }

  /** Starts a driver, which registers. */
  async plug({name = DRIVER, versions, ...options}: PlugOptions = {}): Promise<PluggedDriver> {
    const path = join(this.#directory, `${name}.sock`);
    const driver = await FakeDraDriver.start({path, ...options});
    const info = {
      ...{type: 'DRAPlugin', name, endpoint: path},
      supported_versions: versions ?? [`${options.version ?? 'v1'}.DRAPlugin`],
    };
    const socket = join(this.daemon.rootDir, 'plugins_registry', `${name}-reg.sock`);
    const registrar = await FakeRegistrar.start(socket, info);
    this.#plugged.push(driver, registrar);
    await this.daemon.until('it is told whether it is registered', () => registrar.statuses.length > 0);
    return {driver, registrar};
  }

  /** Creates a claim that is allocated from drivers, by default one. */
  createClaim(name: string, drivers: readonly string[] = [DRIVER], more: object = {}): StoredObject {
    const results = drivers.map((driver) => ({request: 'req', driver, pool: 'pool', device: 'dev', ...more}));
    return this.cluster.api.create(`${CLAIMS}/${name}`, {
      ...{apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', spec: {}},
      status: {allocation: {devices: {results}}},
    });
  }

  /** Creates a pod whose container uses claims, which are reserved for it. */
  createPod(name: string, claims: readonly string[], isReserved = true): StoredObject {
    const {api} = this.cluster;
    // As by the scheduler, a pod is bound to the node after that.
    const uid = uidOf(name);
    for (const claim of isReserved ? claims : []) this.#reserve(claim, name, uid);
    return api.createPod({
      metadata: {name, uid},
      spec: aPodSpec(claims.map((claim) => ({name: claim, resourceClaimName: claim}))),
    });
  }

  #reserve(claim: string, name: string, uid: string): void {
    const {api} = this.cluster;
    const path = `${CLAIMS}/${claim}`;
    const stored = api.storage.get(path);
    if (stored === undefined) return;
    const status = (stored['status'] ?? {}) as {readonly reservedFor?: readonly object[]};
    const reservedFor = [...(status.reservedFor ?? []), {resource: 'pods', name, uid}];
    api.storage.put(path, {...stored, status: {...status, reservedFor}});
  }

  /** Waits until a pod runs, and returns the CDI devices of its container. */
  async devicesOf(name: string): Promise<readonly string[]> {
    await this.cluster.untilPhase(name, 'Running');
    const requests = this.daemon.fake
      .callsTo('CreateContainer')
      .map(({request}) => request as unknown as Created);
    const created = requests.filter(({sandbox_config: {metadata}}) => metadata.name === name);
    return created.at(-1)?.config.CDI_devices?.map((device) => device.name) ?? [];
  }

  /** Waits until a pod cannot be prepared, and returns why. */
  async failureOf(name: string): Promise<string> {
    const failures = () =>
      this.daemon.events.filter(
        ({reason, pod}) => reason === 'FailedPrepareDynamicResources' && pod.metadata.name === name,
      );
    await this.daemon.until(`${name} cannot be prepared`, () => failures().length > 0);
    const prefix = 'Failed to prepare dynamic resources: prepare dynamic resources: ';
    return (failures()[0]?.message ?? '').replace(prefix, '');
  }

  containerStatus(name: string): ContainerStatus | undefined {
    return this.cluster.status(name).containerStatuses?.[0];
  }

  /** Selectors of the deletions of ResourceSlices, without the one at the start. */
  get deletedSlices(): readonly (string | undefined)[] {
    return this.cluster.api.requests
      .filter(({method, path}) => method === 'DELETE' && path === SLICES)
      .map(({query}) => query['fieldSelector'])
      .filter((selector) => selector?.includes('spec.driver') === true);
  }

  /** Reads what the kubelet has stored; empty if it has stored nothing yet. */
  async storedState(): Promise<string> {
    const path = join(this.daemon.rootDir, 'dra_manager_state');
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return '';
    return (JSON.parse(text) as {readonly Data: string}).Data;
  }

  async deletePod(name: string): Promise<void> {
    this.cluster.api.deletePod(name);
    await this.cluster.untilDeleted(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
    for (const each of this.#plugged) await each[Symbol.asyncDispose]();
    await removeTree(this.#directory);
  }
}

interface Created {
  readonly config: {readonly CDI_devices?: readonly {readonly name: string}[]};
  readonly sandbox_config: {readonly metadata: {readonly name: string}};
}

/** Returns the UID of the test's pod of a name. */
export function uidOf(name: string): string {
  return `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`;
}

/** Returns the spec of a pod whose container uses all of its claims. */
export function aPodSpec(resourceClaims: readonly {readonly name: string}[]): object {
  const claims = resourceClaims.map(({name}) => ({name}));
  return {
    nodeName: 'goldennode',
    terminationGracePeriodSeconds: 1,
    containers: [{name: 'main', image: BUSYBOX, resources: {claims}}],
    resourceClaims,
  };
}
