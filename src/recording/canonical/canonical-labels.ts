import {isObject} from '../../base/is-object.js';
import {stringOrEmpty, type Json, type JsonObject} from './canonical-json.js';
import type {PlainCall} from './comparable-call.js';

/** The environment of a run, which is removed from its calls. */
export interface CallEnvironment {
  readonly nodeName: string;
  readonly nodeIp: string;
  readonly rootDir: string;
  readonly logsDir: string;
  /** Parent path of /kubepods in cgroup paths. */
  readonly cgroupRoot: string;
  /** Directory in place of @KL@ in manifests, which contains @HOST@. */
  readonly scratchDir?: string;
  readonly podIps: readonly string[];
  /** Image IDs with their tags. */
  readonly images: ReadonlyMap<string, string>;
  /** Pods in the order of their creation, if not all of them have sandboxes. */
  readonly pods?: readonly Pick<SandboxMetadata, 'name' | 'uid'>[];
  /** Substitutes for node facts, and the original values. */
  readonly substitutes?: ReadonlyMap<string, string>;
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const DURATION = /\bin [0-9.]+(?:ms|\u00B5s|s) \([0-9.]+(?:ms|\u00B5s|s) including waiting\)/g;
/** An ID that no call has returned: an image's digest. */
const UNKNOWN_ID = /\b[0-9a-f]{64}\b/g;
const TERMINATION_LOG = /(\/containers\/[^/\s"]+\/)[0-9a-f]{8}\b/g;

/** UIDs, IPv4 addresses, and hexadecimal digits that may contain an ID or the UID of a static pod. */
const TOKEN =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,}|\d{1,3}(?:\.\d{1,3}){3}/g;
/** Lengths of IDs and of the UIDs of static pods. */
const HEX_LENGTHS = [64, 32] as const;

/** Reports whether a value is found by TOKEN. */
function isToken(value: string): boolean {
  const [token] = value.match(TOKEN) ?? [];
  const isHex = /^[0-9a-f]+$/.test(value);
  return token === value && (!isHex || HEX_LENGTHS.some((length) => length === value.length));
}

type Replacement = readonly [from: string, to: string];

/** Maps IDs, directories and addresses of one run to labels. */
export class CanonicalLabels {
  /** Values that are part of the others, or contain them. */
  readonly #first: readonly Replacement[];
  /** IDs, UIDs and addresses of the usual forms. There may be thousands: a text is searched once for all of them. */
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #last: readonly Replacement[];

  constructor(environment: CallEnvironment, calls: readonly PlainCall[]) {
    const uids = uidLabels(environment, calls);
    const values: readonly Replacement[] = [
      ...idLabels(calls, uids),
      ...[...uids].map(([uid, label]) => [uid, `<UID:${label}>`] as const),
      ...environment.podIps.map((ip) => [ip, '<POD_IP>'] as const),
    ];
    this.#first = withValue([
      ...(environment.substitutes ?? []),
      ...directories(environment),
      ...[...environment.images].map(([id, tag]) => [id, `<IMAGE:${tag}>`] as const),
    ]);
    // Of several labels of a value, the first one counts.
    this.#tokens = new Map(values.filter(([value]) => isToken(value)).toReversed());
    this.#last = withValue([
      ...values.filter(([value]) => !isToken(value)),
      [environment.nodeIp, '<NODE_IP>'],
      [environment.nodeName, '<NODE>'],
    ]);
  }

  /** Returns the text with all values of this run replaced. */
  replaceInText(value: string): string {
    const plain = value
      .replaceAll(TERMINATION_LOG, '$1<RAND>')
      .replaceAll(TIME, '<TIME>')
      .replaceAll(DURATION, 'in <DUR> (<DUR> including waiting)');
    const known = replaceAll(plain, this.#first).replaceAll(TOKEN, (token) => this.#replaceToken(token));
    return replaceAll(known, this.#last).replaceAll(UNKNOWN_ID, '<ID>');
  }

  /** Replaces a token. In `pod9a0a…`, the digits begin with the last letter of the word before the UID. */
  #replaceToken(token: string): string {
    const label = this.#tokens.get(token);
    if (label !== undefined || /[^0-9a-f]/.test(token)) return label ?? token;
    let replaced = '';
    let at = 0;
    while (at < token.length) {
      const found = HEX_LENGTHS.map((length) => token.slice(at, at + length)).find((value) =>
        this.#tokens.has(value),
      );
      replaced += found === undefined ? token.charAt(at) : (this.#tokens.get(found) ?? found);
      at += found?.length ?? 1;
    }
    return replaced;
  }

  /** Replaces the values in every string of a JSON value. */
  replaceInValue(value: Json): Json {
    if (typeof value === 'string') return this.replaceInText(value);
    if (Array.isArray(value)) return (value as readonly Json[]).map((item) => this.replaceInValue(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.replaceInValue(item)]));
  }
}

function withValue(replacements: readonly Replacement[]): readonly Replacement[] {
  return replacements.filter(([from]) => from !== '');
}

function replaceAll(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((replaced, [from, to]) => replaced.replaceAll(from, () => to), text);
}

function directories({
  rootDir,
  logsDir,
  cgroupRoot,
  scratchDir = '',
}: CallEnvironment): readonly [string, string][] {
  const named: [string, string][] = [
    [rootDir, '<ROOT>'],
    [logsDir, '<LOGS>'],
    [`${cgroupRoot}/kubepods`, '<CGROUP_ROOT>/kubepods'],
    [scratchDir, '<KL>'],
  ];
  // Nested directories must be replaced first.
  return named.sort(([a], [b]) => b.length - a.length);
}

interface SandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly attempt?: number;
}

/** Returns the metadata of a configuration, with empty names for what a damaged recording lacks. */
function metadataOf(request: JsonObject): SandboxMetadata {
  const config = request['config'];
  const metadata = isObject(config) && isObject(config['metadata']) ? config['metadata'] : {};
  const text = (name: string): string => (typeof metadata[name] === 'string' ? metadata[name] : '');
  return {
    name: text('name'),
    uid: text('uid'),
    ...(typeof metadata['attempt'] === 'number' && {attempt: metadata['attempt']}),
  };
}

/** Returns a pod's name without the node's, with `#2` for the second pod of that name. */
function uidLabels(
  {nodeName, pods}: CallEnvironment,
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
