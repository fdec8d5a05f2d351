import {dirname} from 'node:path';
import {ConfigError} from '../../base/errors.js';
import type {MessageName} from '../../cri/gen/schema.js';
import {fromJson, toJson} from '../../cri/proto-json.js';
import {isObject} from '../../base/is-object.js';
import {stringAt} from '../../base/string-at.js';
import type {Json, JsonObject} from '../../format/json.js';
import {methodOf} from '../tap/method-table.js';
import type {JsonObject as PlainObject} from './canonical-json.js';
import {canonicalCalls, isRead} from './canonical-calls.js';
import type {CallEnvironment} from './canonical-labels.js';
import type {CanonicalCall, ComparableCall} from './comparable-call.js';
import type {ProbeCommands} from './probe-calls.js';

/** The calls of a recording in canonical form. */
export interface RecordedRun {
  readonly calls: readonly CanonicalCall[];
  /** Number of calls whose request or end is not recorded, which cannot be compared. */
  readonly incomplete: number;
}

/** Returns the mutating calls of a recording, whose lines may be in any order, in canonical form. */
export async function recordedRun(lines: AsyncIterable<JsonObject>): Promise<RecordedRun> {
  const numbered: (readonly [number: number, call: ComparableCall])[] = [];
  let incomplete = 0;
  for await (const line of lines) {
    const {service, call: number} = line;
    if (typeof service !== 'string') continue;
    const call = comparableCall(line);
    if (call === undefined || typeof number !== 'number') incomplete += 1;
    else if (!isRead(call.method)) numbered.push([number, call]);
    else if (call.method === 'PodSandboxStatus') numbered.push([number, addressOf(call)]);
  }
  const calls = numbered.toSorted(([a], [b]) => a - b).map(([, call]) => call);
  return {calls: canonicalCalls(calls, environmentOf(calls), repeatedCommands(calls)), incomplete};
}

/** Returns a read of a pod with nothing but the address in its answer: answers of reads are most of a recording. */
function addressOf(call: ComparableCall): ComparableCall {
  const ip = stringAt(call.response, 'status', 'network', 'ip') ?? '';
  return {...call, request: {}, response: {status: {network: {ip}}}};
}

/** Returns what of the calls depends on the node and the run. */
export function environmentOf(calls: readonly ComparableCall[]): CallEnvironment {
  const environment = new RecordedEnvironment();
  for (const call of calls) environment.learn(call);
  return environment.result();
}

/** Returns the call of a line; undefined if its request or end is not recorded, or if it is not of the CRI. */
export function comparableCall(line: JsonObject): ComparableCall | undefined {
  const {info} = methodOf(`/${stringAt(line, 'service') ?? ''}/${stringAt(line, 'method') ?? ''}`);
  const {request, response, code, timeoutMs} = line;
  if (info === undefined || !isObject(request) || typeof code !== 'string') return undefined;
  return {
    method: info.rpc,
    request: protoNames(info.request, request),
    response: isObject(response) ? withText(response) : undefined,
    code,
    deadlineMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
  };
}

function protoNames(name: MessageName, message: JsonObject): JsonObject {
  try {
    return toJson(name, fromJson(name, message), {names: 'proto'});
  } catch (error) {
    if (error instanceof ConfigError) return message;
    throw error;
  }
}

/** Decodes the output of ExecSync, unless only its length is recorded. */
export function withText(response: JsonObject): JsonObject {
  const decoded = ['stdout', 'stderr'].flatMap((name) => {
    const value = response[name];
    if (typeof value !== 'string' || value.startsWith('(')) return [];
    return [[name, Buffer.from(value, 'base64').toString()] as const];
  });
  return {...response, ...Object.fromEntries(decoded)};
}

/** Returns the commands that a container was given several times: most likely those of its probes. */
function repeatedCommands(calls: readonly ComparableCall[]): ProbeCommands {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const commands = new Map<string, (readonly string[])[]>();
  for (const {method, request, response} of calls) {
    const plain = request as JsonObject;
    if (method === 'CreateContainer')
      names.set(stringAt(response, 'containerId') ?? '', stringAt(plain['config'], 'metadata', 'name') ?? '');
    if (method !== 'ExecSync') continue;
    const key = JSON.stringify([plain['container_id'], plain['cmd']]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const name = names.get(stringAt(plain, 'container_id') ?? '');
    if (count === 2 && name !== undefined)
      commands.set(name, [...(commands.get(name) ?? []), plain['cmd'] as unknown as readonly string[]]);
  }
  return commands;
}

/** What of the calls depends on the node and the run. */
class RecordedEnvironment {
  #rootDir = '';
  #logsDir = '';
  #cgroupRoot = '';
  readonly #podIps = new Set<string>();
  readonly #images = new Map<string, string>();

  learn({method, request, response}: ComparableCall): void {
    const config = (request as PlainObject)['config'];
    if (method === 'RunPodSandbox') this.#learnSandbox(config);
    if (method === 'CreateContainer') this.#learnMounts(config);
    if (method === 'PodSandboxStatus') {
      const ip = stringAt(response, 'status', 'network', 'ip');
      if (ip !== undefined) this.#podIps.add(ip);
    }
    if (method === 'PullImage') {
      const id = stringAt(response, 'imageRef');
      const name = stringAt(request, 'image', 'image');
      if (id !== undefined && name !== undefined) this.#images.set(id, name);
    }
  }

  #learnSandbox(config: unknown): void {
    const logs = stringAt(config, 'log_directory');
    if (this.#logsDir === '' && logs !== undefined) this.#logsDir = dirname(logs);
    const cgroup = /^(.*)\/kubepods/.exec(stringAt(config, 'linux', 'cgroup_parent') ?? '')?.[1];
    if (cgroup !== undefined) this.#cgroupRoot = cgroup;
  }

  #learnMounts(config: unknown): void {
    const {mounts} = (isObject(config) ? config : {}) as {readonly mounts?: readonly Json[]};
    for (const mount of Array.isArray(mounts) ? mounts : [])
      this.#rootDir ||= /^(.*)\/pods\/[^/]+\//.exec(stringAt(mount, 'host_path') ?? '')?.[1] ?? '';
  }

  result(): CallEnvironment {
    return {
      nodeName: '',
      nodeIp: '',
      rootDir: this.#rootDir,
      logsDir: this.#logsDir,
      cgroupRoot: this.#cgroupRoot,
      podIps: [...this.#podIps],
      images: this.#images,
    };
  }
}
