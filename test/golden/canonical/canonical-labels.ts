import {stringOrEmpty, type Json, type JsonObject} from './canonical-json.js';
import type {PlainCall} from './canonical-calls.js';

/** What a run was made with, so that it can be taken out of its calls again. */
export interface GoldenEnvironment {
  readonly nodeName: string;
  readonly nodeIp: string;
  readonly rootDir: string;
  readonly logsDir: string;
  /** What precedes /kubepods in cgroup paths. */
  readonly cgroupRoot: string;
  /** The directory that stands for @KL@ in manifests, and has @HOST@ in it. */
  readonly scratchDir?: string;
  readonly podIps: readonly string[];
  /** Image ids and the tag that each is known by. */
  readonly images: ReadonlyMap<string, string>;
  /** The pods in the order in which they were made, when not each of them came to a sandbox. */
  readonly pods?: readonly Pick<SandboxMetadata, 'name' | 'uid'>[];
  /** What stood in for something of the node, and what it stood for. */
  readonly substitutes?: ReadonlyMap<string, string>;
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const DURATION = /\bin [0-9.]+(?:ms|µs|s) \([0-9.]+(?:ms|µs|s) including waiting\)/g;
/** An id that no call has given: an image's digest. */
const UNKNOWN_ID = /\b[0-9a-f]{64}\b/g;
const TERMINATION_LOG = /(\/containers\/[^/\s"]+\/)[0-9a-f]{8}\b/g;

type Replacement = readonly [from: string, to: string];

/** Knows the label of every id, directory and address of one run. */
export class CanonicalLabels {
  readonly #replacements: readonly Replacement[];

  constructor(world: GoldenEnvironment, calls: readonly PlainCall[]) {
    const uids = uidLabels(world, calls);
    this.#replacements = [
      ...(world.substitutes ?? []),
      ...directories(world),
      ...[...world.images].map(([id, tag]) => [id, `<IMAGE:${tag}>`] as const),
      ...idLabels(calls, uids),
      ...[...uids].map(([uid, label]) => [uid, `<UID:${label}>`] as const),
      ...world.podIps.map((ip) => [ip, '<POD_IP>'] as const),
      [world.nodeIp, '<NODE_IP>'],
      [world.nodeName, '<NODE>'],
    ];
  }

  /** The text with all that is particular to this run replaced. */
  replaceInText(value: string): string {
    const plain = value
      .replaceAll(TERMINATION_LOG, '$1<RAND>')
      .replaceAll(TIME, '<TIME>')
      .replaceAll(DURATION, 'in <DUR> (<DUR> including waiting)');
    return this.#replacements
      .reduce((text, [from, to]) => (from === '' ? text : text.replaceAll(from, to)), plain)
      .replaceAll(UNKNOWN_ID, '<ID>');
  }

  /** The same for every text inside a value. */
  replaceInValue(value: Json): Json {
    if (typeof value === 'string') return this.replaceInText(value);
    if (Array.isArray(value)) return (value as readonly Json[]).map((item) => this.replaceInValue(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.replaceInValue(item)]));
  }
}

function directories({
  rootDir,
  logsDir,
  cgroupRoot,
  scratchDir = '',
}: GoldenEnvironment): readonly [string, string][] {
  const named: [string, string][] = [
    [rootDir, '<ROOT>'],
    [logsDir, '<LOGS>'],
    [`${cgroupRoot}/kubepods`, '<CGROUP_ROOT>/kubepods'],
    [scratchDir, '<KL>'],
  ];
  // A directory inside another must be found first.
  return named.sort(([a], [b]) => b.length - a.length);
}

interface SandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly attempt?: number;
}

function metadataOf(request: JsonObject): SandboxMetadata {
  return (request['config'] as {readonly metadata: unknown}).metadata as SandboxMetadata;
}

/** A pod's name without the node's; `#2` for the second pod of that name. */
function uidLabels(
  {nodeName, pods}: GoldenEnvironment,
  calls: readonly PlainCall[],
): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const seen = new Map<string, number>();
  const made = calls.filter(({method}) => method === 'RunPodSandbox').map(({request}) => metadataOf(request));
  for (const {name, uid} of pods ?? made) {
    if (labels.has(uid)) continue;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const short = name.endsWith(`-${nodeName}`) ? name.slice(0, -nodeName.length - 1) : name;
    labels.set(uid, count === 1 ? short : `${short}#${count}`);
  }
  return labels;
}

function idLabels(calls: readonly PlainCall[], uids: ReadonlyMap<string, string>): readonly Replacement[] {
  const pods = new Map<string, string>();
  return calls.flatMap(({method, request, ids}): readonly Replacement[] => {
    if (method === 'RunPodSandbox' && ids.sandbox !== undefined) {
      const {uid, attempt = 0} = metadataOf(request);
      pods.set(ids.sandbox, uids.get(uid) ?? uid);
      return [[ids.sandbox, `<SB:${uids.get(uid) ?? uid}/${attempt}>`]];
    }
    if (method === 'CreateContainer' && ids.container !== undefined) {
      const {name, attempt = 0} = metadataOf(request);
      const pod = pods.get(stringOrEmpty(request['pod_sandbox_id'])) ?? '?';
      return [[ids.container, `<C:${pod}/${name}/${attempt}>`]];
    }
    return [];
  });
}
