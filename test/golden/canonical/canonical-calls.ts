import {canonicalOrder} from './canonical-order.js';
import {stringOrEmpty, type Json, type JsonObject} from './canonical-json.js';
import {CanonicalLabels, type GoldenEnvironment} from './canonical-labels.js';
import {deduplicateProbeCalls, type ProbeCommands} from './probe-calls.js';

export type {JsonObject} from './canonical-json.js';
export type {GoldenEnvironment} from './canonical-labels.js';

/** One call to a runtime, in the order in which it began: FakeRuntime.calls fits. */
export interface GoldenCall {
  readonly method: string;
  readonly request: object;
  /** In proto names or camelCase; only new ids are read from it. */
  readonly response?: object | undefined;
  readonly code: string | undefined;
  /** None for an RPC without one. */
  readonly deadlineMs: number | undefined;
}

/** One line of a canon.jsonl: a call, or the mark of something done from outside. */
export type CanonicalLine = CanonicalCall | {readonly mark: string};

export interface CanonicalCall {
  readonly method: string;
  readonly timeout_s: number;
  readonly req: JsonObject;
  readonly code: string;
  readonly resp?: JsonObject;
  readonly msg?: string;
  /** One of however many a probe made. */
  readonly probe?: boolean;
}

const READS =
  /^(List|Stream|GetContainerEvents|Image(Status|FsInfo)|Container(Status|Stats)|PodSandbox(Status|Stats)|Status|Version|RuntimeConfig)/;

/**
 * The changing calls in the form of the kubelet's recordings: ids, UIDs, addresses, times and directories are replaced
 * by labels that are the same in every run, what a kubelet does in random order is sorted, and a probe's calls that are
 * the same count once.
 */
export function canonicalCalls(
  calls: readonly GoldenCall[],
  world: GoldenEnvironment,
  probes: ProbeCommands = new Map(),
): readonly CanonicalCall[] {
  const changing = calls.filter(({method}) => !READS.test(method));
  const labels = labelsOf(calls, world);
  const sandboxConfigs = new Map<string, string>();
  const lines = changing.map((call) => canonicalCall(withPlainRequest(call), labels, sandboxConfigs));
  return deduplicateProbeCalls(canonicalOrder(lines), probes);
}

/**
 * The calls pod by pod, without the marks and the runtime's own words: a kubelet works on several pods at once, and
 * collects the sandbox of one that was replaced when its time comes.
 */
export function callsByPod(
  lines: readonly CanonicalLine[],
): Readonly<Record<string, readonly CanonicalCall[]>> {
  const byPod: Record<string, CanonicalCall[]> = {};
  for (const line of lines) {
    if (!('method' in line)) continue;
    const call: CanonicalCall = {...line};
    delete (call as {msg?: string}).msg;
    const [, pod = ''] = /<(?:SB|C|UID):([^/>]+)/.exec(JSON.stringify(call.req)) ?? [];
    (byPod[pod] ??= []).push(call);
  }
  return byPod;
}

/** The labels of all that the calls have made. */
export function labelsOf(calls: readonly GoldenCall[], world: GoldenEnvironment): CanonicalLabels {
  return new CanonicalLabels(world, calls.filter(({method}) => !READS.test(method)).map(withPlainRequest));
}

/** A call whose request is plain JSON. */
export interface PlainCall extends GoldenCall {
  readonly request: JsonObject;
  readonly ids: {readonly sandbox?: string; readonly container?: string; readonly image?: string};
}

function withPlainRequest(call: GoldenCall): PlainCall {
  const request = JSON.parse(JSON.stringify(call.request)) as JsonObject;
  const response = (call.response ?? {}) as Readonly<Record<string, string | undefined>>;
  const read = (name: string, camel: string): string | undefined => response[name] ?? response[camel];
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
  const resp = answer(method, ids, response);
  return {
    method,
    timeout_s: Math.ceil((deadlineMs ?? 0) / 1000),
    req: labels.replaceInValue(repeats ? {...plain, sandbox_config: '=RunPodSandbox'} : plain) as JsonObject,
    code: code ?? '',
    ...(Object.keys(resp).length > 0 && {resp: labels.replaceInValue(resp) as JsonObject}),
  };
}

/** What of an answer counts. */
function answer(method: string, ids: PlainCall['ids'], response: object | undefined): Record<string, Json> {
  const {url} = (response ?? {}) as {readonly url?: string};
  return {
    ...(url !== undefined && {url: `http://<STREAM>/${method.toLowerCase()}/<TOKEN>`}),
    ...(ids.sandbox !== undefined && {pod_sandbox_id: ids.sandbox}),
    ...(ids.container !== undefined && {container_id: ids.container}),
    ...(ids.image !== undefined && {image_ref: ids.image}),
    ...(method === 'ExecSync' && execResult(response)),
  };
}

/** What a command said, without what is empty. */
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

/** Environments and resolver options come out of Go maps: they are compared as sets. Bytes become text. */
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
  if (key !== 'envs') return items;
  const envs = items as readonly {readonly key: string; readonly value?: string}[];
  return envs
    .map(({key: name, value = ''}) => ({key: name, value: Buffer.from(value, 'base64').toString()}))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}
