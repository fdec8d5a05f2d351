import {join} from 'node:path';
import type {GrpcCode} from '../../../src/cri/errors.js';
import {FakeDraDriver, type DraClaim} from '../../fakes/plugins/fake-dra-driver.js';
import {FakeRegistrar} from '../../fakes/plugins/fake-registrar.js';
import {GrpcStatusError, goCodeName} from '../../fakes/runtime/grpc-status-error.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import {sortedJson} from './sorted-json.js';
import {
  canonicalMessage,
  type CanonicalPluginCall,
  type PlayedPlugin,
  type PluginEntry,
} from './played-plugin.js';

const METHODS = ['NodePrepareResources', 'NodeUnprepareResources'] as const;
const CODES: readonly GrpcCode[] = ['INTERNAL', 'UNAVAILABLE', 'UNKNOWN'];

/** A DRA driver that answers what a recorded one answered, in its order. */
export class CaseDraDriver implements PlayedPlugin {
  readonly calls: CanonicalPluginCall[] = [];
  readonly #entries: readonly PluginEntry[];
  readonly #command: string;
  readonly #answered = new Map<string, number>();
  #driver: FakeDraDriver | undefined;
  #registrar: FakeRegistrar | undefined;

  constructor(entries: readonly PluginEntry[], command: string) {
    this.#entries = entries;
    this.#command = command;
  }

  async start(): Promise<void> {
    const [, path = '', socket = '', type = '', name = '', versions = ''] =
      /-sock (\S+) -reg (\S+) -type (\S+) -name (\S+) -versions (\S+)/.exec(this.#command) ?? [];
    const answers = Object.fromEntries(
      METHODS.map((method) => [method, (claims: readonly DraClaim[]) => this.#answer(method, claims)]),
    );
    this.#driver = await FakeDraDriver.start({path, answers});
    const info = {type, name, endpoint: path, supported_versions: versions.split(',')};
    this.#registrar = await FakeRegistrar.start(join(socket), info, ({method, request}) => {
      this.calls.push([method, canonicalMessage(request)]);
    });
  }

  async stop(): Promise<void> {
    await this.#registrar?.stop();
    await this.#driver?.kill();
  }

  /** The recorded answers contain the failures that the case asks for. */
  async control(): Promise<void> {
    // Nothing to do.
  }

  #answer(method: string, claims: readonly DraClaim[]): object {
    const service = `k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/${method}`;
    const request = {claims: claims.map((claim) => ({...claim, namespace: '<NS>', uid: '<UUID>'}))};
    this.calls.push([method, {claims: claims.map((claim) => ({...claim, uid: '<UUID>'}))}]);
    const recorded = this.#entries.filter((entry) => entry.method === service);
    const index = this.#answered.get(method) ?? 0;
    this.#answered.set(method, index + 1);
    const entry = recorded[Math.min(index, recorded.length - 1)];
    if (entry === undefined) throw new Error(`no kubelet has called ${method} with ${sortedJson(request)}`);
    const {code, error = ''} = entry;
    if (code !== undefined)
      throw new GrpcStatusError(CODES.find((each) => goCodeName(each) === code) ?? 'UNKNOWN', error);
    const text = JSON.stringify(entry.resp).replaceAll('<NODE>', GOLDEN_NODE.nodeName);
    const [[, value] = []] = Object.entries((JSON.parse(text) as {readonly claims: object}).claims);
    return {claims: claims.map(({uid}) => ({key: uid, value: value as object}))};
  }
}
