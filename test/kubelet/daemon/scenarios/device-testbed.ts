import {existsSync} from 'node:fs';
import {mkdtemp} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {removeTree} from '../../../../src/base/fs/remove-tree.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {FakeDevicePlugin, type FakeDevicePluginOptions} from '../../../fakes/plugins/fake-device-plugin.js';
import {machineOf, ORACLE_MACHINES} from '../../resources/machine/machine-oracle.js';
import {DaemonTestbed, type DaemonTestbedOptions} from '../daemon-testbed.js';

export const RESOURCE = 'example.com/dev';

/** Returns the manifest of a pod whose container has this number of devices. */
export function aDevicePod(name: string, count = 1, more: object = {}): string {
  const amounts = {[RESOURCE]: String(count)};
  return aManifest({
    name,
    terminationGracePeriodSeconds: 0,
    containers: [aContainerSpec('app', {resources: {requests: amounts, limits: amounts}})],
    ...more,
  });
}

/** A daemon with its directory of device plugins. */
export class DeviceTestbed implements AsyncDisposable {
  readonly daemon: DaemonTestbed;
  readonly directory: string;

  private constructor(daemon: DaemonTestbed, directory: string) {
    this.daemon = daemon;
    this.directory = directory;
  }

  /** Starts a daemon that plugins can register with. */
  static async start(options: DaemonTestbedOptions = {}): Promise<DeviceTestbed> {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-devices-'));
    const info = ORACLE_MACHINES.get('s1n1c4t2-split')?.machineInfo;
    if (info === undefined) throw new Error('the oracle has no such machine');
    const machine = machineOf(info);
    const node = {
      devicePluginsDir: directory,
      machine: () => machine,
      topologyManager: {policy: 'none', scope: 'container', options: {}},
    };
    const daemon = await DaemonTestbed.start({...options, node: {...node, ...options.node}});
    const testbed = new DeviceTestbed(daemon, directory);
    await testbed.untilListening();
    return testbed;
  }

  async untilListening(): Promise<void> {
    await this.daemon.until('plugins can register', () => existsSync(join(this.directory, 'kubelet.sock')));
  }

  /** Starts a plugin, and registers it. */
  async plug(options: Partial<FakeDevicePluginOptions> = {}): Promise<FakeDevicePlugin> {
    const plugin = await FakeDevicePlugin.start({directory: this.directory, ...options});
    await plugin.register();
    const {resource = RESOURCE, devices = [{}, {}]} = options;
    await this.daemon.until('the devices are known', () => this.capacityOf(resource) === devices.length);
    return plugin;
  }

  capacityOf(resource = RESOURCE): number | undefined {
    return this.daemon.view.takeExtendedResources().capacity.get(resource);
  }

  allocatableOf(resource = RESOURCE): number | undefined {
    return this.daemon.view.takeExtendedResources().allocatable.get(resource);
  }

  /** Runs a pod until its container was created, and returns the request. */
  async runPod(name: string, text = aDevicePod(name)): Promise<CreateRequest> {
    await this.daemon.put(`${name}.json`, text);
    await this.daemon.until(`${name} runs`, () => this.daemon.statusOf(name).phase === 'Running');
    return this.created(name);
  }

  created(name: string): CreateRequest {
    const requests = this.daemon.fake
      .callsTo('CreateContainer')
      .map(({request}) => request as unknown as CreateRequest)
      .filter(({sandbox_config: {metadata}}) => metadata.name === `${name}-goldennode`);
    const last = requests.at(-1);
    if (last === undefined) throw new Error(`no container of ${name} was created`);
    return last;
  }

  statusOf(name: string): PodStatus {
    return this.daemon.view.pods().find(({metadata}) => metadata.name === `${name}-goldennode`)?.status ?? {};
  }

  /** Puts a pod that is rejected. Returns its message. */
  async rejected(name: string, text = aDevicePod(name)): Promise<string> {
    await this.daemon.put(`${name}.json`, text);
    await this.daemon.until(`${name} is rejected`, () => this.statusOf(name).phase === 'Failed');
    return this.statusOf(name).message ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
    await removeTree(this.directory);
  }
}

/** A request for a container. */
export interface CreateRequest {
  readonly config: {
    readonly envs: readonly {readonly key: string; readonly value: string}[];
    readonly mounts: readonly object[];
    readonly devices: readonly object[];
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly sandbox_config: {readonly metadata: {readonly name: string}};
}

/** Returns the devices that a container was told to have. */
export function devicesOf({config}: CreateRequest): string | undefined {
  const value = config.envs.find(({key}) => key === 'DEVS')?.value;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}
