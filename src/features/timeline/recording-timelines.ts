import {shorten} from '../../base/shorten.js';
import {listAt, stringAt, valueAt} from '../../base/string-at.js';
import type {JsonObject} from '../../format/json.js';
import {timesOf, type RecordedTimes} from '../../recording/lines/call-times.js';
import {byStart} from './compute-timeline.js';
import {BACK_OFF_MS, type Phase, type PhaseName, type Timeline} from './phase.js';
import {RecordedContainers} from './recorded-containers.js';
import {recordedLives, type RecordedLife, type RecordedStep} from './recorded-lives.js';

/** Calls that are phases of a pod's life. */
const CALL_PHASES: ReadonlyMap<unknown, PhaseName> = new Map([
  ['RunPodSandbox', 'sandbox'],
  ['PullImage', 'pull'],
  ['CreateContainer', 'create'],
  ['StartContainer', 'start'],
  ['StopContainer', 'stop'],
  ['StopPodSandbox', 'stop'],
  ['RemoveContainer', 'remove'],
  ['RemovePodSandbox', 'remove'],
]);
/** Maximum length of an error in a note, in characters. */
const LONGEST_NOTE = 160;

interface RecordedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Part of a call that is a phase, which is kept: requests may be long. */
interface Call extends Omit<RecordedStep, 'container'> {
  /** Image, or name of the container that the request has. */
  readonly subject: string | undefined;
  /** Pod in the request. */
  readonly pod: RecordedPod | undefined;
  readonly failure: string | undefined;
}

/** Pod of calls that do not say for which pod they are, such as pulls of other programs. */
const NO_POD: RecordedPod = {namespace: '-', name: '-', uid: ''};

/** Timelines of a recording. */
export interface RecordedTimelines {
  /** By their starts. */
  readonly timelines: readonly Timeline[];
  /** Number of calls that are left out because of their times. */
  readonly damaged: number;
}

/** Returns the lives of the pods in the lines of a recording, which may be in any order. */
export async function recordingTimelines(lines: AsyncIterable<JsonObject>): Promise<RecordedTimelines> {
  const recording = new RecordedPods();
  for await (const line of lines) recording.add(line);
  return recording.timelines();
}

/** Collects the calls of a recording and what they tell about whose containers and sandboxes there are. */
class RecordedPods {
  readonly #pods = new Map<string, RecordedPod>();
  readonly #containers = new RecordedContainers();
  readonly #calls: Call[] = [];
  #lastMs = 0;
  #damaged = 0;

  add(line: JsonObject): void {
    // Of streams, only messages have no service.
    const name = line['service'] === undefined ? undefined : CALL_PHASES.get(line['method']);
    const times = timesOf(line);
    if (times === undefined) {
      if (name !== undefined) this.#damaged += 1;
      return;
    }
    this.#lastMs = Math.max(this.#lastMs, times.endMs ?? times.startMs);
    this.#learnPods(line);
    this.#containers.learn(line, times);
    if (name !== undefined) this.#calls.push(callOf(name, line, times));
  }

  #learnPods({method, request, response}: JsonObject): void {
    if (method === 'RunPodSandbox')
      this.#learnPod(stringAt(response, 'podSandboxId'), valueAt(request, 'config', 'metadata'));
    if (method === 'PodSandboxStatus')
      this.#learnPod(stringAt(response, 'status', 'id'), valueAt(response, 'status', 'metadata'));
    if (method === 'ListPodSandbox')
      for (const item of listAt(response, 'items'))
        this.#learnPod(stringAt(item, 'id'), valueAt(item, 'metadata'));
  }

  #learnPod(id: string | undefined, metadata: unknown): void {
    const pod = podIn(metadata);
    if (id !== undefined && pod !== undefined)
      this.#pods.set(id, {...pod, uid: pod.uid === '' ? id : pod.uid});
  }

  timelines(): RecordedTimelines {
    const groups = new Map<string, {readonly pod: RecordedPod; readonly calls: Call[]}>();
    for (const call of this.#calls) {
      const pod = this.#podOf(call);
      const key = JSON.stringify([pod.namespace, pod.name, pod.uid]);
      const group = groups.get(key) ?? {pod, calls: []};
      group.calls.push(call);
      groups.set(key, group);
    }
    const timelines = [...groups.values()].map(({pod, calls}): Timeline => {
      const phases = this.#phasesOf(calls);
      return {...pod, startMs: phases[0]?.startMs ?? 0, nowMs: this.#lastMs, phases};
    });
    return {timelines: timelines.toSorted((a, b) => a.startMs - b.startMs), damaged: this.#damaged};
  }

  #podOf({containerId, sandboxId, pod}: Call): RecordedPod {
    const container = this.#containers.get(containerId);
    const ids = [container?.sandboxId, sandboxId];
    const known = ids.flatMap((id) => (id === undefined ? [] : (this.#pods.get(id) ?? [])))[0];
    // A sandbox that could not be created has no ID, and a pull has only the config of its pod.
    return known ?? pod ?? NO_POD;
  }

  #phasesOf(calls: readonly Call[]): readonly Phase[] {
    const steps = calls.map((call): RecordedStep => {
      const container = this.#containers.get(call.containerId);
      const sandboxId = call.sandboxId === '' ? (container?.sandboxId ?? '') : call.sandboxId;
      return {...call, sandboxId, container: container?.name ?? call.subject};
    });
    const lives = recordedLives(steps.toSorted(byStart), this.#containers);
    return [...calls.map((call) => this.#phaseOf(call)), ...lives.flatMap(lifePhases)].toSorted(byStart);
  }

  #phaseOf({name, containerId, subject: own, startMs, endMs, failure}: Call): Phase {
    const subject = own ?? this.#containers.get(containerId)?.name;
    return {
      ...({name, startMs, source: 'recording'} as const),
      ...(subject !== undefined && {subject}),
      ...(endMs !== undefined && {endMs}),
      ...(failure !== undefined && {isFailed: true as const, note: failure}),
    };
  }
}

/** Returns how long a container ran, and the wait for its next instance. */
function lifePhases({container: subject, startMs, end, isInit, nextMs}: RecordedLife): readonly Phase[] {
  const endMs = end === undefined ? undefined : Math.max(startMs, end.atMs);
  const {exitCode, inferred} = end ?? {};
  const ran: Phase = {
    ...({name: isInit ? 'init' : 'running', subject, startMs, source: 'recording'} as const),
    ...(endMs !== undefined && {endMs}),
    ...(inferred !== undefined && {inferred}),
    ...(exitCode !== undefined && {note: `exit code ${exitCode}`}),
    ...(exitCode !== undefined && exitCode !== 0 && {isFailed: true as const}),
  };
  if (endMs === undefined || nextMs === undefined || nextMs - endMs < BACK_OFF_MS) return [ran];
  const wait = {name: 'back-off', subject, startMs: endMs, endMs: nextMs, source: 'recording'} as const;
  return [ran, {...wait, inferred: 'from the exit to the next creation'}];
}

function callOf(name: PhaseName, line: JsonObject, {startMs, endMs}: RecordedTimes): Call {
  const {method, request, response, code, error} = line;
  const isFailed = code !== undefined && code !== 'OK';
  const texts = [code, error].filter((text) => typeof text === 'string');
  return {
    ...{name, startMs, endMs, isOk: code === 'OK'},
    containerId: stringAt(request, 'containerId') ?? stringAt(response, 'containerId') ?? '',
    sandboxId: stringAt(request, 'podSandboxId') ?? stringAt(response, 'podSandboxId') ?? '',
    subject: subjectOf(method, request),
    pod: podIn(valueAt(request, name === 'sandbox' ? 'config' : 'sandboxConfig', 'metadata')),
    failure: isFailed ? shorten(texts.join(': '), LONGEST_NOTE) : undefined,
  };
}

function podIn(metadata: unknown): RecordedPod | undefined {
  const name = stringAt(metadata, 'name');
  if (name === undefined) return undefined;
  return {name, namespace: stringAt(metadata, 'namespace') ?? '', uid: stringAt(metadata, 'uid') ?? ''};
}

function subjectOf(method: unknown, request: unknown): string | undefined {
  if (method === 'PullImage') return stringAt(request, 'image', 'image');
  if (method === 'CreateContainer') return stringAt(request, 'config', 'metadata', 'name');
  return method === 'StopPodSandbox' || method === 'RemovePodSandbox' ? 'sandbox' : undefined;
}
