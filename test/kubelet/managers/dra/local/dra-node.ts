import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../../src/base/clock.js';
import type {NodeManager, PreparationFailure} from '../../../../../src/kubelet/contract/node-manager.js';
import type {DeviceObjects} from '../../../../../src/kubelet/contract/resources/device-objects.js';
import {
  createDraManager,
  createOnDemandDraManager,
} from '../../../../../src/kubelet/managers/dra/dra-node-manager.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {fakeManagerServices} from '../../../../fakes/fake-manager-services.js';
import {FakeDraDriver, type FakeDraDriverOptions} from '../../../../fakes/plugins/fake-dra-driver.js';
import {FakeRegistrar} from '../../../../fakes/plugins/fake-registrar.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {DRIVER} from './device-fixtures.js';

const {signal} = new AbortController();

/** A node without a cluster, with a driver whose device is `dev`. */
export class DraNode implements AsyncDisposable {
  readonly rootDir: string;
  readonly driver: FakeDraDriver;
  readonly #registrar: FakeRegistrar;
  readonly #ends: AbortController[] = [];
  active: readonly Pod[] = [];
  /** Ends the calls of drivers, as the end of a daemon does. */
  readonly ended = new AbortController();
  /** UIDs of pods that are being stopped. */
  ending: readonly string[] = [];
  readonly synced: string[] = [];

  private constructor(rootDir: string, driver: FakeDraDriver, registrar: FakeRegistrar) {
    this.rootDir = rootDir;
    this.driver = driver;
    this.#registrar = registrar;
  }

  static async start(answers: FakeDraDriverOptions['answers'] = {}): Promise<DraNode> {
    const rootDir = join(await temporaryDirectory(), 'root');
    const path = join(rootDir, 'plugins', DRIVER, 'dra.sock');
    const driver = await FakeDraDriver.start({path, answers});
    const info = {type: 'DRAPlugin', name: DRIVER, endpoint: path, supported_versions: ['v1.DRAPlugin']};
    const registrar = await FakeRegistrar.start(join(rootDir, 'plugins_registry', 'dra-reg.sock'), info);
    return new DraNode(rootDir, driver, registrar);
  }

  /** Starts the manager of a kubelet, with which the driver registers. */
  async kubelet(objects: DeviceObjects, isPlan = false): Promise<NodeManager> {
    const node = {
      ...GOLDEN_NODE,
      rootDir: this.rootDir,
      devicePluginsDir: join(this.rootDir, 'device-plugins'),
    };
    const manager = createDraManager(node);
    if (manager === undefined) throw new Error('the node has no DRA manager');
    const end = new AbortController();
    this.#ends.push(end);
    await manager.start?.(
      fakeManagerServices({
        ...{node, clock: systemClock, deviceObjects: () => objects, isPlan},
        ended: this.ended.signal,
        activePods: () => this.active,
        hasPod: (uid) => this.ending.includes(uid),
        syncPods: (uids) => void this.synced.push(...uids),
      }),
      end.signal,
    );
    const endpoint = join(this.rootDir, 'plugins', DRIVER, 'dra.sock');
    if (!isPlan)
      await manager.plugins?.register({name: DRIVER, endpoint, versions: ['v1.DRAPlugin']}, signal);
    return manager;
  }

  /** Creates the manager of a command. */
  command(objects: DeviceObjects): NodeManager {
    const node = {...GOLDEN_NODE, rootDir: this.rootDir};
    return createOnDemandDraManager({node, clock: systemClock, objects: () => objects});
  }

  async claims(): Promise<readonly string[]> {
    const names = await readdir(join(this.rootDir, 'kcri/resource-claims')).catch(() => []);
    return names.filter((name) => name.endsWith('.json'));
  }

  /** Names of the claims that the driver has unprepared. */
  get unprepared(): readonly string[] {
    return this.driver
      .callsTo('NodeUnprepareResources')
      .flat()
      .map(({name}) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends) end.abort();
    await this.#registrar.stop();
    await this.driver.kill();
  }
}

/** Prepares the claims of a pod. */
export const prepare = async (manager: NodeManager, pod: Pod): Promise<PreparationFailure | undefined> =>
  manager.preparePod?.(pod, signal);

/** Returns the CDI devices of the first container. */
export const cdi = async (manager: NodeManager, pod: Pod): Promise<readonly (string | undefined)[]> => {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('the pod has no container');
  const options = await manager.containerOptions?.({pod, container, node: GOLDEN_NODE}, signal);
  return (options?.cdiDevices ?? []).map(({name}) => name);
};
