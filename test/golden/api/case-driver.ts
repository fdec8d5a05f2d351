import {join} from 'node:path';
import type {GrpcCode} from '../../../src/cri/errors.js';
import {FakeCsiDriver} from '../../fakes/plugins/fake-csi-driver.js';
import {FakeRegistrar} from '../../fakes/plugins/fake-registrar.js';
import type {PluginCall} from '../../fakes/plugins/fake-device-plugin.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import {
  canonicalMessage,
  type CanonicalPluginCall,
  type PlayedPlugin,
  type PluginEntry,
} from './played-plugin.js';

/** Codes that the cases inject. */
const CODES: Readonly<Record<string, GrpcCode>> = {13: 'INTERNAL', 14: 'UNAVAILABLE'};

/** A CSI driver with the capabilities of a recorded one, or only the registration socket of a plugin. */
export class CaseDriver implements PlayedPlugin {
  readonly #entries: readonly PluginEntry[];
  readonly #options: ReadonlyMap<string, string>;
  readonly #calls: PluginCall[] = [];
  #driver: FakeCsiDriver | undefined;
  #registrar: FakeRegistrar | undefined;

  constructor(entries: readonly PluginEntry[], rootDir: string, command: string) {
    this.#entries = entries;
    const pairs = [...command.replaceAll('@ROOT@', rootDir).matchAll(/-(\w+) (\S+)/g)];
    this.#options = new Map([
      ['sock', join(rootDir, 'none.sock')],
      ...pairs.map(([, name = '', value = '']): [string, string] => [name, value]),
    ]);
  }

  get calls(): readonly CanonicalPluginCall[] {
    const all = [...this.#calls, ...(this.#driver?.allCalls ?? [])];
    return all.map(({method, request}) => [method, canonicalMessage(request)]);
  }

  async start(): Promise<void> {
    const option = (key: string): string => this.#options.get(key) ?? '';
    const [path, registration, name] = [option('sock'), option('reg'), option('name')];
    const type = this.#options.get('type');
    const versions = option('versions').split(',');
    const info = {type, name, endpoint: path, supported_versions: versions};
    if (type !== undefined) {
      this.#registrar = await FakeRegistrar.start(registration, info, (call) => this.#calls.push(call));
      return;
    }
    const {capabilities = []} = this.#recorded('NodeGetCapabilities') as {capabilities?: Capability[]};
    this.#driver = await FakeCsiDriver.start({
      ...{path, registration, name},
      ...(this.#options.has('device') && {device: option('device')}),
      capabilities: capabilities.map(({rpc}) => rpc.type),
      info: this.#recorded('NodeGetInfo'),
    });
  }

  async stop(): Promise<void> {
    await this.#driver?.[Symbol.asyncDispose]();
    await this.#registrar?.stop();
  }

  async control(command: string): Promise<void> {
    const [verb = '', method = '', times = '', code = '', , ...message] = command.split(' ');
    if (verb === 'fail')
      this.#driver?.fail(method, CODES[code] ?? 'UNKNOWN', message.join(' '), Number(times));
    else await this.#driver?.register();
  }

  /** Returns the recorded answer of a method; an empty one without any. */
  #recorded(method: string): object {
    const found = this.#entries.find((entry) => entry.method === `csi.v1.Node/${method}`);
    const text = JSON.stringify(found?.resp ?? {});
    return JSON.parse(text.replaceAll('<NODE>', GOLDEN_NODE.nodeName)) as object;
  }
}

interface Capability {
  readonly rpc: {readonly type: string};
}
