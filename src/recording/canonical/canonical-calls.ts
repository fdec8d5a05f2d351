import {isObject} from '../../base/is-object.js';
import {stringAt} from '../../base/string-at.js';
import {canonicalOrder} from './canonical-order.js';
import {stringOrEmpty, type Json, type JsonObject} from './canonical-json.js';
import {CanonicalLabels, type CallEnvironment} from './canonical-labels.js';
import {deduplicateProbeCalls, type ProbeCommands} from './probe-calls.js';

import type {CanonicalCall, CanonicalLine, ComparableCall, PlainCall} from './comparable-call.js';

export type {JsonObject} from './canonical-json.js';
export type {CallEnvironment} from './canonical-labels.js';
export type {CanonicalCall, CanonicalLine, ComparableCall} from './comparable-call.js';

const READS =
  /^(List|Stream|GetContainerEvents|Image(Status|FsInfo)|Container(Status|Stats)|PodSandbox(Status|Stats)|Status|Version|RuntimeConfig)/;

/** Reports whether a method changes nothing. */
export function isRead(method: string): boolean {
  return READS.test(method);
}

/**
 * Returns the mutating calls in a form in which two runs can be compared: IDs, UIDs, addresses, times and directories
 * are replaced by stable labels, calls that a kubelet makes in random order are sorted, and equal calls of a probe are
 * listed once.
 */
export function canonicalCalls(
  calls: readonly ComparableCall[],
  environment: CallEnvironment,
  probes: ProbeCommands = new Map(),
): readonly CanonicalCall[] {
  const changing = calls.filter(({method}) => !isRead(method));
  const labels = labelsOf(calls, environment);
  const sandboxConfigs = new Map<string, string>();
  const lines = changing.map((call) => canonicalCall(withPlainRequest(call), labels, sandboxConfigs));
  return deduplicateProbeCalls(canonicalOrder(lines), probes);
}

/**
 * Groups the calls by pod, without marks and runtime messages: a kubelet works on several pods concurrently, and
 * collects the sandbox of a replaced pod later.
 */
export function callsByPod(
  lines: readonly CanonicalLine[],
): Readonly<Record<string, readonly CanonicalCall[]>> {
  return Object.fromEntries(groupByPod(lines));
}

/** Groups the calls as callsByPod does. */
export function groupByPod(lines: readonly CanonicalLine[]): ReadonlyMap<string, readonly CanonicalCall[]> {
  const byPod = new Map<string, CanonicalCall[]>();
  for (const line of lines) {
    if (!('method' in line)) continue;
    const call: CanonicalCall = {...line};
    delete (call as {msg?: string}).msg;
    const pod = podOf(call);
    const calls = byPod.get(pod);
    if (calls === undefined) byPod.set(pod, [call]);
    else calls.push(call);
  }
  return byPod;
}

/** Returns the name of the pod that a call is about; empty without one. */
export function podOf({req}: Pick<CanonicalCall, 'req'>): string {
  return /<(?:SB|C|UID):([^/>]+)/.exec(JSON.stringify(req))?.[1] ?? '';
}

/** Registers labels for everything that the calls create. */
export function labelsOf(calls: readonly ComparableCall[], environment: CallEnvironment): CanonicalLabels {
  return new CanonicalLabels(environment, calls.filter(({method}) => !isRead(method)).map(withPlainRequest));
}

function withPlainRequest(call: ComparableCall): PlainCall {
  const request = JSON.parse(JSON.stringify(call.request)) as JsonObject;
  const read = (name: string, camel: string): string | undefined =>
    stringAt(call.response, name) ?? stringAt(call.response, camel);
  const [sandbox, container, image] = [
    read('pod_sandbox_id', 'podSandboxId'),
    read('container_id', 'containerId'),
    read('image_ref', 'imageRef'),
  ];
  return {
    ...call,
    request,
    ids: {
      ...(sandbox !== undefined && {sandbox}),
      ...(container !== undefined && {container}),
      ...(image !== undefined && {image}),
    },
  };
}

function canonicalCall(
  {method, request, response, code, deadlineMs, ids}: PlainCall,
  labels: CanonicalLabels,
  sandboxConfigs: Map<string, string>,
): CanonicalCall {
  const plain = sorted(request) as JsonObject;
  if (method === 'RunPodSandbox') sandboxConfigs.set(ids.sandbox ?? '', JSON.stringify(plain['config']));
  const known = sandboxConfigs.get(stringOrEmpty(plain['pod_sandbox_id']));
  const repeats = method === 'CreateContainer' && JSON.stringify(plain['sandbox_config']) === known;
  const resp = canonicalResponse(method, ids, response);
  return {
    method,
    timeout_s: Math.ceil((deadlineMs ?? 0) / 1000),
    req: labels.replaceInValue(repeats ? {...plain, sandbox_config: '=RunPodSandbox'} : plain) as JsonObject,
    code: code ?? '',
    ...(Object.keys(resp).length > 0 && {resp: labels.replaceInValue(resp) as JsonObject}),
  };
}

/** Returns the relevant part of a response. */
function canonicalResponse(
  method: string,
  ids: PlainCall['ids'],
  response: object | undefined,
): Record<string, Json> {
  const {url} = (response ?? {}) as {readonly url?: string};
  return {
    ...(url !== undefined && {url: `http://<STREAM>/${method.toLowerCase()}/<TOKEN>`}),
    ...(ids.sandbox !== undefined && {pod_sandbox_id: ids.sandbox}),
    ...(ids.container !== undefined && {container_id: ids.container}),
    ...(ids.image !== undefined && {image_ref: ids.image}),
    ...(method === 'ExecSync' && execResult(response)),
  };
}

/** Returns the output of a command, without empty fields. */
function execResult(response: object | undefined): Readonly<Record<string, Json>> {
  const {
    exitCode = 0,
    stdout = '',
    stderr = '',
  } = (response ?? {}) as {
    readonly exitCode?: number;
    readonly stdout?: Buffer | string;
    readonly stderr?: Buffer | string;
  };
  const said = {exit_code: exitCode, stdout: String(stdout), stderr: String(stderr)};
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== 0 && value !== ''));
}

/** Sorts environments and resolver options, which come from Go maps, and decodes bytes to text. */
function sorted(value: Json, key = ''): Json {
  if (Array.isArray(value))
    return sortedList(
      (value as readonly Json[]).map((item) => sorted(item)),
      key,
    );
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item, name)]),
  );
}

function sortedList(items: readonly Json[], key: string): Json {
  if (key === 'options') return items.toSorted();
  // Variables of a damaged recording may be anything.
  if (key !== 'envs' || !items.every(isObject)) return items;
  return items
    .map((item) => ({key: stringAt(item, 'key') ?? '', value: decodeText(stringAt(item, 'value'))}))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

function decodeText(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString();
}
