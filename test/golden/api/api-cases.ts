import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import type {Taint} from '../../../src/api/types/v1-node.js';
import {callsByPod, type CanonicalCall} from '../../../src/recording/canonical/canonical-calls.js';
import type {CanonicalPluginCall, PluginEntry} from './played-plugin.js';
import {sortedJson} from './sorted-json.js';

/** Independent of where this file was compiled to. */
const DIRECTORY = join(
  dirname(createRequire(import.meta.url).resolve('kcri/package.json')),
  'test/golden/api',
);
const CASES = join(DIRECTORY, 'cases');
/** Mutating CRI calls of the cases, one a line. */
const CALLS = join(DIRECTORY, 'calls');

/** An object of a manifest, as JSON. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {readonly name: string; readonly [field: string]: unknown};
  readonly [field: string]: unknown;
}

/** An external action: time in seconds after the objects were created, or `+S` after the last action, verb and arguments. */
export type ApiAction = readonly [at: number | string, verb: string, ...args: readonly unknown[]];

/** A write of the kubelet about a pod: method, path, code, body, how often. */
export type CanonicalWrite = readonly [string, string, string, unknown, number];

/** Values of one aspect of a pod's status, in the order in which the API server had them. */
export type Tracks = Readonly<Record<string, readonly unknown[]>>;

/** An event: object, type, reason, message, reporter, count. */
export type CanonicalApiEvent = readonly unknown[];

/** A write of the kubelet about its node: method, path, code, body. */
export type NodeWrite = readonly [string, string, string, unknown];

/** A read of the kubelet, and the codes of the answers to a GET. */
export type CanonicalRead = readonly [read: string, codes: readonly string[]];

/** What a kubelet wrote about its node. */
export interface CanonicalNode {
  /** Distinct requests by kind of object. */
  readonly writes: readonly NodeWrite[];
  /** Distinct consecutive states of the Node in the API server. */
  readonly states: readonly Readonly<Record<string, unknown>>[];
  /** Fields of the status that patches have. */
  readonly patch_keys: readonly string[];
}

/** What a kubelet did, in canonical form. */
export interface CanonicalRun {
  readonly pods: Readonly<
    Record<string, {readonly writes: readonly CanonicalWrite[]; readonly tracks: Tracks}>
  >;
  readonly events: readonly CanonicalApiEvent[];
  /** In cases about the node. */
  readonly node?: CanonicalNode | undefined;
  readonly reads?: readonly CanonicalRead[] | undefined;
  /** Other writes, such as access reviews. */
  readonly other?: readonly NodeWrite[] | undefined;
  /** Requests to the kubelet's server: method, path, upgrade, offered protocols, protocol, code, and shape of the answer. */
  readonly server?: readonly (readonly unknown[])[] | undefined;
  /** State files that were kept, as JSON by name; `<N>` for sizes of the machine. */
  readonly kept?: Readonly<Record<string, unknown>> | undefined;
  /** Calls to the device plugins, by the plugin's name in the case. */
  readonly pluginCalls?: Readonly<Record<string, readonly CanonicalPluginCall[]>> | undefined;
  /** Mutating CRI calls by pod. */
  readonly calls: Readonly<Record<string, readonly CanonicalCall[]>>;
}

/** Settings of the kubelet of a case (KubeletConfiguration). */
export interface KubeletSettings {
  readonly maxPods?: number;
  readonly nodeStatusReportFrequency?: `${number}s`;
  readonly registerWithTaints?: readonly Taint[];
  readonly rotateCertificates?: boolean;
  readonly serverTLSBootstrap?: boolean;
  readonly [field: string]: unknown;
}

/** A case recorded from a kubelet that had joined a cluster. */
export interface ApiCase extends CanonicalRun {
  readonly run: {
    readonly settle?: number;
    /** True if the recording is about the node. */
    readonly node?: boolean;
    /** False if nothing is deleted at the end. */
    readonly teardown?: boolean;
    /** True if the kubelet requests its client certificate with a bootstrap token. */
    readonly bootstrap?: boolean;
    /** True if the node has a logind. */
    readonly logind?: boolean;
    readonly kubelet?: KubeletSettings;
    readonly actions?: readonly ApiAction[];
    /** Actions before the kubelet starts. */
    readonly before?: readonly (readonly [verb: string, ...args: readonly unknown[]])[];
  };
  readonly objects: readonly ManifestObject[];
  readonly files?: Readonly<Record<string, readonly ManifestObject[]>>;
  /** What the device plugins were asked, and what they answered. */
  readonly plugins?: Readonly<Record<string, readonly PluginEntry[]>>;
  /** Units in which two recordings differed. */
  readonly unstable?: readonly string[];
}

/** Names of all cases. */
export const API_CASES: readonly string[] = readdirSync(CASES)
  .map((file) => file.replace(/\.json$/, ''))
  .sort();

/** Reads a case, with a directory of files on the node, a registry and the node's name in place of placeholders. */
export function readApiCase(name: string, places: Readonly<Record<string, string>>): ApiCase {
  const read = (file: string): string =>
    Object.entries({...places, '<NS>': 'default'}).reduce(
      (current, [placeholder, value]) => current.replaceAll(placeholder, value),
      existsSync(file) ? readFileSync(file, 'utf8') : '',
    );
  const lines = read(join(CALLS, `${name}.jsonl`)).split('\n');
  const calls = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as CanonicalCall);
  return {
    ...(JSON.parse(read(join(CASES, `${name}.json`))) as Omit<ApiCase, 'calls'>),
    calls: callsOfPods(calls),
  };
}

/** Collections of what the garbage collection removes, at times that differ. */
const COLLECTED = new Set(['RemoveContainer', 'RemovePodSandbox']);

/** Groups calls by pod, without those of the garbage collection; commands in no order, since clients send them. */
export function callsOfPods(calls: readonly CanonicalCall[]): CanonicalRun['calls'] {
  const kept = calls.filter(({method}) => !COLLECTED.has(method)).map(withoutRegistryHash);
  const byPod = Object.entries(callsByPod(kept)).map(([pod, all]): [string, readonly CanonicalCall[]] => {
    const [commands, others] = [all.filter(isCommand), all.filter((call) => !isCommand(call))];
    const distinct = others.filter((call, index) => sortedJson(call) !== sortedJson(others[index - 1]));
    return [pod, [...distinct, ...commands.toSorted((a, b) => (sortedJson(a) < sortedJson(b) ? -1 : 1))]];
  });
  return Object.fromEntries(byPod);
}

/** Omits the hash of a container whose image is in the registry, because the name has the port of the registry. */
function withoutRegistryHash(call: CanonicalCall): CanonicalCall {
  const text = JSON.stringify(call);
  if (!text.includes('"user_specified_image":"<REGISTRY>')) return call;
  return JSON.parse(text.replace(/("io.kubernetes.container.hash":")\w+/, '$1<HASH>')) as CanonicalCall;
}

function isCommand({method}: CanonicalCall): boolean {
  return method === 'Exec' || method === 'Attach' || method === 'PortForward';
}
