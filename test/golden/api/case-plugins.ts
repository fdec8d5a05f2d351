import {join} from 'node:path';
import {FakeDevicePlugin, type FakeDevice} from '../../fakes/plugins/fake-device-plugin.js';
import {connectKubelet} from '../../fakes/plugins/kubelet-protos.js';
import {CaseDraDriver} from './case-dra-driver.js';
import {CaseDriver} from './case-driver.js';
import {
  canonicalMessage,
  type CanonicalPluginCall,
  type PlayedPlugin,
  type PluginEntry,
} from './played-plugin.js';
import {sortedJson} from './sorted-json.js';

type JsonObject = Readonly<Record<string, unknown>>;

const SERVICE = 'v1beta1.DevicePlugin/';
const ANSWERED = ['GetDevicePluginOptions', 'GetPreferredAllocation', 'Allocate', 'PreStartContainer'];

/** Returns the calls of the kubelet of a recorded plugin; equal ones in a row are one. */
export function canonicalPluginCalls(entries: readonly PluginEntry[]): readonly CanonicalPluginCall[] {
  return distinctCalls(
    entries.flatMap(({method, event, req}) =>
      method === undefined || event !== undefined ? [] : [[method.slice(method.indexOf('/') + 1), req]],
    ),
  );
}

export function distinctCalls(calls: readonly CanonicalPluginCall[]): readonly CanonicalPluginCall[] {
  return calls.filter((call, index) => sortedJson(call) !== sortedJson(calls[index - 1]));
}

/** A plugin that answers what a recorded one answered. */
class CaseDevicePlugin implements PlayedPlugin {
  readonly calls: CanonicalPluginCall[] = [];
  readonly #entries: readonly PluginEntry[];
  readonly #options: {readonly directory: string; readonly resource: string; readonly socket: string};
  #devices: readonly FakeDevice[];
  #plugin: FakeDevicePlugin | undefined;

  constructor(entries: readonly PluginEntry[], directory: string, command: string) {
    const [, path = '', resource = '', devices = ''] =
      /-sock (\S+) -resource (\S+) -devs (\S+)/.exec(command) ?? [];
    this.#entries = entries;
    this.#options = {directory, resource, socket: path.slice(directory.length + 1)};
    this.#devices = parseDevices(devices);
  }

  async start(): Promise<void> {
    const answers = Object.fromEntries(
      ANSWERED.map((method) => [method, (request: JsonObject) => this.#answer(method, request)]),
    );
    this.#plugin = await FakeDevicePlugin.start({...this.#options, devices: this.#devices, answers});
    const registration = this.#entries.find(({client}) => client !== undefined)?.req;
    await this.#plugin.register(registration);
  }

  async stop(): Promise<void> {
    await this.#plugin?.kill();
    this.#plugin = undefined;
  }

  async control(command: string): Promise<void> {
    const [verb = '', devices = ''] = command.split(' ');
    if (verb === 'stop' || verb === 'restart') await this.stop();
    if (verb === 'start' || verb === 'restart') await this.start();
    if (verb !== 'devs') return;
    this.#devices = parseDevices(devices);
    this.#plugin?.list(this.#devices);
  }

  #answer(method: string, request: JsonObject): object {
    const canonical = canonicalMessage(request);
    this.calls.push([method, canonical]);
    const found = this.#entries.find(
      (entry) => entry.method === SERVICE + method && sortedJson(entry.req) === sortedJson(canonical),
    );
    if (found?.resp === undefined)
      throw new Error(`no kubelet has called ${method} with ${sortedJson(canonical)}`);
    return found.resp;
  }
}

/** Parses devices such as `d1:Unhealthy:0`: name, health (healthy by default) and NUMA node. */
function parseDevices(text: string): readonly FakeDevice[] {
  return text.split(',').map((device) => {
    const [id = '', health = '', node = ''] = device.split(':');
    return {
      id,
      ...(health !== '' && {health}),
      ...(node !== '' && {numaNodes: [Number(node)]}),
    };
  });
}

/** The plugins of a case. */
export class CasePlugins implements AsyncDisposable {
  readonly #recorded: Readonly<Record<string, readonly PluginEntry[]>>;
  readonly #directory: string;
  readonly #plugins = new Map<string, PlayedPlugin>();

  constructor(recorded: Readonly<Record<string, readonly PluginEntry[]>>, directory: string) {
    this.#recorded = recorded;
    this.#directory = directory;
  }

  /** Starts a plugin and registers it; `rootDir` is that of the kubelet. */
  async plug(name: string, command: string, rootDir: string): Promise<void> {
    const recorded = this.#recorded[name] ?? [];
    const [kind] = command.split(' ', 1);
    const plugin =
      kind === 'dp'
        ? new CaseDevicePlugin(recorded, this.#directory, command)
        : kind === 'dra'
          ? new CaseDraDriver(recorded, command.replaceAll('@ROOT@', rootDir))
          : new CaseDriver(recorded, rootDir, command);
    this.#plugins.set(name, plugin);
    await plugin.start();
  }

  /** Stops or starts a plugin, or changes its devices. */
  async control(name: string, command: string): Promise<void> {
    await this.#plugins.get(name)?.control(command);
  }

  /** Calls of the kubelet by plugin. */
  get calls(): Readonly<Record<string, readonly CanonicalPluginCall[]>> {
    return Object.fromEntries([...this.#plugins].map(([name, {calls}]) => [name, distinctCalls(calls)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const plugin of this.#plugins.values()) await plugin.stop();
  }
}

/** Asks the pod resources API of a kubelet what the recorder asked: about everything, a pod, and one that does not exist. */
export async function askPodResources(rootDir: string, pod?: string): Promise<JsonObject> {
  const socket = join(rootDir, 'pod-resources/kubelet.sock');
  using kubelet = connectKubelet(socket, 'pod-resources', 'v1.PodResourcesLister');
  const ask = async (method: string, request = {}): Promise<unknown> =>
    canonicalMessage(await kubelet.call(method, request));
  const get = async (name: string): Promise<unknown> =>
    ask('Get', {pod_name: name, pod_namespace: 'default'}).catch((error: unknown) => {
      const {details} = error as {readonly details: string};
      return {code: 'Unknown', error: details};
    });
  return {
    List: await ask('List'),
    GetAllocatableResources: await ask('GetAllocatableResources'),
    ...(pod !== undefined && {Get: await get(pod), 'Get nosuch': await get('nosuch')}),
  };
}
