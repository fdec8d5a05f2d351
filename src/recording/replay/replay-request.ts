import type {Json, JsonObject} from '../../format/json.js';
import {MASK} from '../../format/secret-redactor.js';
import {containedPath, type ReplayPaths} from './replay-paths.js';
import type {ValueMap} from './value-map.js';

/** Values of the replay in place of the recorded ones. */
export interface ReplayValues {
  readonly values: ValueMap;
  readonly paths: ReplayPaths;
  /** UIDs of pods by their recorded UID. */
  readonly uids: ReadonlyMap<string, string>;
  /** Returns the parent of a pod's cgroup in place of a recorded one. */
  readonly cgroupParent: (recorded: string) => string;
}

/** Members that name a sandbox or a container. */
const IDS: ReadonlySet<string> = new Set(['podSandboxId', 'containerId', 'id', 'targetId']);

/** Returns a recorded request with the IDs, UIDs, addresses and paths of the replay. */
export function replayRequest(request: JsonObject, replay: ReplayValues): JsonObject {
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => [name, mapMember(name, value, request, replay)]),
  );
}

function mapMember(name: string, value: Json, parent: JsonObject, replay: ReplayValues): Json {
  if (typeof value === 'string') return mapText(name, value, parent, replay);
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return replayRequest(value as JsonObject, replay);
  const items = value as readonly Json[];
  return name === 'envs'
    ? items.map((item) => mapVariable(item, replay))
    : items.map((item) => mapMember('', item, parent, replay));
}

function mapText(name: string, text: string, parent: JsonObject, replay: ReplayValues): string {
  const {values, paths} = replay;
  if (text === '') return text;
  if (IDS.has(name)) return values.idOf(text) ?? text;
  const map = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined;
  if (map !== undefined) return map(text, replay);
  const {containerPath} = parent;
  // Devices have a host path, too, with permissions.
  if (name === 'hostPath' && typeof containerPath === 'string' && parent['permissions'] === undefined)
    return paths.mount(text, containerPath);
  return values.toActual(text);
}

const mapUid = (uid: string, {uids, values}: ReplayValues): string => uids.get(uid) ?? values.toActual(uid);

/** Members whose values are mapped by their meaning. */
const MEMBERS: Readonly<Record<string, (text: string, replay: ReplayValues) => string>> = {
  uid: mapUid,
  'io.kubernetes.pod.uid': mapUid,
  logDirectory: (path, {paths}) => paths.logs(path),
  logPath: (path, {values}) => containedPath(values.toActual(path)),
  cgroupParent: (path, {cgroupParent}) => cgroupParent(path),
};

/** Maps the value of a variable, which is base64. */
function mapVariable(variable: Json, {values}: ReplayValues): Json {
  if (typeof variable !== 'object' || variable === null || Array.isArray(variable)) return variable;
  const {value} = variable as JsonObject;
  if (typeof value !== 'string') return variable;
  const text = value === MASK ? value : Buffer.from(value, 'base64').toString();
  return {...(variable as JsonObject), value: Buffer.from(values.toActual(text)).toString('base64')};
}

/** Returns the number of masked values in a request. */
export function countMasked(value: unknown): number {
  if (typeof value === 'string') return value.includes(MASK) ? 1 : 0;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + countMasked(member), 0);
}
