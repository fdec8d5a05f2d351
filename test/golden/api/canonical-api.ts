import {canonicalObject, isWrite, resultOf} from './canonical-node.js';
import {sortedJson} from './sorted-json.js';
import {omit} from '../../../src/base/omit.js';
import type {ContainerState, ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import type {RecordedRequest} from '../../fakes/api-server/api-request.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import type {ApiEvent} from '../../../src/kubelet/cluster/events/event-correlator.js';
import type {CanonicalApiEvent, CanonicalRun, CanonicalWrite, Tracks} from './api-cases.js';

/** Reasons of events whose count depends on timing. */
const MANY: ReadonlySet<unknown> = new Set([
  ...['BackOff', 'Unhealthy', 'FailedMount', 'FailedCreatePodSandBox', 'Failed', 'Pulling'],
  ...['FailedToRetrieveImagePullSecret', 'InspectFailed', 'ErrImageNeverPull', 'FailedKillPod'],
  ...['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'],
]);

/** What a kubelet sent in a case. */
export interface ApiRecording {
  readonly requests: readonly RecordedRequest[];
  /** Events as stored last. */
  readonly events: readonly ApiEvent[];
  /** Replaces texts of the run, such as UIDs and directories. */
  readonly replace: (text: string) => string;
}

/** Returns the canonical form of what a kubelet sent about pods; it equals that of the recordings. */
export function canonicalPods({
  requests,
  events,
  replace,
}: ApiRecording): Pick<CanonicalRun, 'pods' | 'events'> {
  const pods: Record<string, {writes: CanonicalWrite[]; states: Record<string, unknown>[]}> = {};
  const podOf = (name: string): (typeof pods)[string] => (pods[replace(name)] ??= {writes: [], states: []});
  for (const request of requests) {
    const found = findPodWrite(request);
    if (found === undefined) continue;
    const pod = podOf(found.pod);
    const status = request.stored === undefined ? undefined : statusOf(request.stored);
    if (!request.path.endsWith('/status')) addWrite(pod.writes, found, replace);
    else if (request.code !== 200 || status === undefined)
      addWrite(pod.writes, {...found, path: 'status', body: null}, replace);
    else pod.states.push(flatStatus(status, replace));
  }
  return {
    pods: Object.fromEntries(
      Object.entries(pods).map(([name, {writes, states}]) => [name, {writes, tracks: toTracks(states)}]),
    ),
    events: [...canonicalEvents(events, replace), ...refusedEvents(requests)].toSorted((a, b) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
    ),
  };
}

interface PodWrite {
  readonly pod: string;
  readonly method: string;
  readonly path: string;
  readonly code: string;
  readonly body: unknown;
}

/** Returns a write about a pod; undefined for other requests. */
function findPodWrite(request: RecordedRequest): PodWrite | undefined {
  if (!isWrite(request)) return undefined;
  const {method, path, body = {}} = request;
  const common = {method, code: resultOf(request)};
  const [, pod] = /\/pods\/([^/]+)(?:\/status)?$/.exec(path) ?? [];
  if (pod !== undefined) {
    const isGone = common.code === '404';
    return isGone ? undefined : {...common, pod, path: `pods/${pod}`, body: omit(body, 'kind', 'apiVersion')};
  }
  if (path.endsWith('/pods')) {
    const {name} = body['metadata'] as {readonly name: string};
    return {...common, pod: name, path: 'pods', body};
  }
  const [, account] = /\/serviceaccounts\/([^/]+)\/token$/.exec(path) ?? [];
  if (account === undefined) return undefined;
  const spec = body['spec'] as {readonly boundObjectRef: {readonly name: string}};
  return {...common, pod: spec.boundObjectRef.name, path: `serviceaccounts/${account}/token`, body: spec};
}

function addWrite(
  writes: CanonicalWrite[],
  {method, path, code, body}: PodWrite,
  replace: (text: string) => string,
): void {
  const next = [method, replace(path), code, canonicalObject(body, replace)] as const;
  const last = writes.at(-1);
  const isSame = last !== undefined && sortedJson(last.slice(0, 4)) === sortedJson(next);
  if (isSame) writes[writes.length - 1] = [...next, last[4] + 1];
  else writes.push([...next, 1]);
}

const statusOf = (pod: StoredObject): PodStatus => pod['status'] ?? {};

/** Returns what a status says, by aspect. */
function flatStatus(status: PodStatus, replace: (text: string) => string): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  flat['phase'] = join(status.phase ?? '', status.reason);
  if (status.message !== undefined) flat['message'] = replace(status.message);
  for (const {type, status: value, reason} of status.conditions ?? [])
    flat[`cond ${type}`] = join(value, reason);
  const lists = [
    ['init ', status.initContainerStatuses],
    ['', status.containerStatuses],
    ['ephemeral ', status.ephemeralContainerStatuses],
  ] as const;
  for (const [prefix, containers = []] of lists)
    for (const container of containers) Object.assign(flat, flatContainer(prefix, container));
  for (const field of ['podIP', 'hostIP', 'startTime'] as const)
    flat[field] = status[field] === undefined ? '' : 'set';
  flat['observedGeneration'] = status.observedGeneration ?? null;
  return flat;
}

function flatContainer(prefix: string, container: ContainerStatus): Record<string, unknown> {
  const name = `${prefix}${container.name}`;
  const {state, lastState = {}, restartCount, ready, started, resources, allocatedResources} = container;
  return {
    [`${name} state`]: describeState(state),
    [`${name} restarts`]: restartCount,
    [`${name} ready`]: ready,
    [`${name} started`]: started ?? null,
    ...(Object.keys(lastState).length > 0 && {[`${name} last`]: describeState(lastState)}),
    ...(resources && {[`${name} resources`]: sortedJson(resources)}),
    ...(allocatedResources && {[`${name} allocated`]: sortedJson(allocatedResources)}),
  };
}

function describeState(state: ContainerState = {}): string {
  if (state.waiting) return `waiting ${state.waiting.reason ?? ''}`;
  if (state.running) return 'running';
  if (state.terminated === undefined) return '';
  const {reason = '', exitCode, signal} = state.terminated;
  return `terminated ${reason} exit=${exitCode}${signal ? ` signal=${signal}` : ''}`;
}

const join = (value: string, reason: string | undefined): string =>
  reason === undefined || reason === '' ? value : `${value} ${reason}`;

/** Returns the distinct consecutive values of each aspect. */
function toTracks(states: readonly Readonly<Record<string, unknown>>[]): Tracks {
  const tracks: Record<string, unknown[]> = {};
  for (const state of states)
    for (const name of new Set([...Object.keys(state), ...Object.keys(tracks)]))
      addValue((tracks[name] ??= []), name in state ? state[name] : ABSENT);
  const ready = tracks['cond PodReadyToStartContainers'] ?? [];
  // Whether the first patch still says False is a matter of timing.
  if (ready[0] === 'False' && ready[1] === 'True') ready.shift();
  return Object.fromEntries(Object.entries(tracks).filter(([, track]) => track.length > 0));
}

const ABSENT = '(absent)';

function addValue(track: unknown[], value: unknown): void {
  const isEmpty = value === '' || value === ABSENT || value === null;
  if ((track.length > 0 || !isEmpty) && track.at(-1) !== value) track.push(value);
}

/** Returns the events with the sums of their counts: objects of one name are one. */
function canonicalEvents(
  events: readonly ApiEvent[],
  replace: (text: string) => string,
): readonly CanonicalApiEvent[] {
  const counts = new Map<string, number>();
  for (const {involvedObject, type, reason, message, source, count} of events) {
    const {kind, name, fieldPath = ''} = involvedObject;
    const subject = `${kind} ${replace(name)}${fieldPath === '' ? '' : ` ${fieldPath}`}`;
    const key = JSON.stringify([subject, type, reason, replace(message), source.component]);
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  return [...counts].map(([key, count]) => {
    const parts = JSON.parse(key) as unknown[];
    const isMany = (MANY.has(parts[2]) && count > 1) || count > 2 || parts[2] === 'FailedMount';
    return [...parts, isMany ? 'n' : count];
  });
}

/** Returns how often new events were refused. */
function refusedEvents(requests: readonly RecordedRequest[]): readonly CanonicalApiEvent[] {
  const counts = new Map<string, number>();
  for (const {method, path, isFault, code, body} of requests) {
    const {involvedObject, reason} = (body ?? {}) as Partial<ApiEvent>;
    if (method !== 'POST' || !path.endsWith('/events') || isFault !== true || involvedObject?.kind !== 'Pod')
      continue;
    const key = JSON.stringify(['Pod', involvedObject.name, reason, `refused ${code}`]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => [...(JSON.parse(key) as unknown[]), count]);
}
