import {shorten} from '../../base/shorten.js';
import {stringAt, valueAt} from '../../base/string-at.js';
import type {JsonObject} from '../../format/json.js';
import {byStart} from './compute-timeline.js';
import {parseMs} from './pod-facts.js';
import type {Phase, PhaseName, Timeline} from './phase.js';

/** Calls that are phases of a pod's life. */
const CALL_PHASES: Readonly<Record<string, PhaseName>> = {
  RunPodSandbox: 'sandbox',
  PullImage: 'pull',
  CreateContainer: 'create',
  StartContainer: 'start',
  StopContainer: 'stop',
  StopPodSandbox: 'stop',
  RemoveContainer: 'remove',
  RemovePodSandbox: 'remove',
};
/** Maximum length of an error in a note, in characters. */
const LONGEST_NOTE = 160;

interface RecordedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface RecordedContainer {
  readonly sandboxId: string;
  readonly name: string;
}

/** A call of a recording that is a phase. */
interface Call {
  readonly name: PhaseName;
  readonly line: JsonObject;
  readonly startMs: number;
  readonly endMs: number | undefined;
}

/** Pod of calls that do not say for which pod they are, such as pulls of other programs. */
const NO_POD: RecordedPod = {namespace: '-', name: '-', uid: ''};

/** Returns the lives of the pods in the lines of a recording, which may be in any order, sorted by their starts. */
export async function recordingTimelines(lines: AsyncIterable<JsonObject>): Promise<readonly Timeline[]> {
  const recording = new RecordedPods();
  for await (const line of lines) recording.add(line);
  return recording.timelines();
}

/** Collects the calls of a recording and what they tell about whose containers and sandboxes there are. */
class RecordedPods {
  readonly #pods = new Map<string, RecordedPod>();
  readonly #containers = new Map<string, RecordedContainer>();
  readonly #exits = new Map<string, number>();
  /** Ends of the first StopContainer of each container. */
  readonly #stops = new Map<string, number>();
  readonly #calls: Call[] = [];
  #lastMs = 0;

  add(line: JsonObject): void {
    const startMs = parseMs(stringAt(line, 'time'));
    if (startMs === undefined) return;
    const {durationMs} = line;
    const endMs = typeof durationMs === 'number' ? startMs + durationMs : undefined;
    this.#lastMs = Math.max(this.#lastMs, endMs ?? startMs);
    this.#learn(line, startMs);
    const method = stringAt(line, 'method') ?? '';
    const name = Object.hasOwn(CALL_PHASES, method) ? CALL_PHASES[method] : undefined;
    // Of streams, only messages have no service.
    if (name === undefined || line['service'] === undefined) return;
    this.#calls.push({name, line, startMs, endMs});
    const stopped = name === 'stop' ? stringAt(line, 'request', 'containerId') : undefined;
    if (stopped !== undefined && endMs !== undefined && !this.#stops.has(stopped))
      this.#stops.set(stopped, endMs);
  }

  #learn(line: JsonObject, timeMs: number): void {
    const {method, request, response} = line;
    this.#learnPods(method, request, response);
    if (method === 'CreateContainer')
      this.#learnContainer(stringAt(response, 'containerId'), {
        sandboxId: stringAt(request, 'podSandboxId') ?? '',
        name: stringAt(request, 'config', 'metadata', 'name') ?? '',
      });
    if (method === 'ListContainers')
      for (const item of listAt(response, 'containers'))
        this.#learnContainer(stringAt(item, 'id'), {
          sandboxId: stringAt(item, 'podSandboxId') ?? '',
          name: stringAt(item, 'metadata', 'name') ?? '',
        });
    if (method === 'ContainerStatus' && stringAt(response, 'status', 'state') === 'CONTAINER_EXITED')
      this.#learnExit(stringAt(response, 'status', 'id'), Number(stringAt(response, 'status', 'finishedAt')));
    if (stringAt(line, 'message', 'containerEventType') === 'CONTAINER_STOPPED_EVENT')
      this.#exits.set(stringAt(line, 'message', 'containerId') ?? '', timeMs);
  }

  #learnPods(method: unknown, request: unknown, response: unknown): void {
    if (method === 'RunPodSandbox')
      this.#learnPod(stringAt(response, 'podSandboxId'), valueAt(request, 'config', 'metadata'));
    if (method === 'PodSandboxStatus')
      this.#learnPod(stringAt(response, 'status', 'id'), valueAt(response, 'status', 'metadata'));
    if (method === 'ListPodSandbox')
      for (const item of listAt(response, 'items'))
        this.#learnPod(stringAt(item, 'id'), valueAt(item, 'metadata'));
  }

  #learnPod(id: string | undefined, metadata: unknown): void {
    const name = stringAt(metadata, 'name');
    if (id === undefined || name === undefined) return;
    const [namespace = '', uid = id] = [stringAt(metadata, 'namespace'), stringAt(metadata, 'uid')];
    this.#pods.set(id, {namespace, name, uid});
  }

  /** `finishedAt` is in ns since the epoch. An event's time is kept, which has the clock of the recorder. */
  #learnExit(id = '', finishedAt: number): void {
    if (finishedAt > 0 && !this.#exits.has(id)) this.#exits.set(id, finishedAt / 1e6);
  }

  #learnContainer(id: string | undefined, container: RecordedContainer): void {
    if (id !== undefined && container.name !== '') this.#containers.set(id, container);
  }

  timelines(): readonly Timeline[] {
    const phases = new Map<string, {readonly pod: RecordedPod; readonly phases: Phase[]}>();
    for (const call of this.#calls) {
      const pod = this.#podOf(call);
      const key = `${pod.namespace}/${pod.name}/${pod.uid}`;
      const group = phases.get(key) ?? {pod, phases: []};
      group.phases.push(this.#phaseOf(call), ...this.#running(call));
      phases.set(key, group);
    }
    return [...phases.values()]
      .map(({pod, phases: unsorted}): Timeline => {
        const sorted = unsorted.toSorted(byStart);
        return {...pod, startMs: sorted[0]?.startMs ?? 0, nowMs: this.#lastMs, phases: sorted};
      })
      .toSorted((a, b) => a.startMs - b.startMs);
  }

  #podOf({name, line: {request, response}}: Call): RecordedPod {
    const container = this.#containers.get(stringAt(request, 'containerId') ?? '');
    const ids = [container?.sandboxId, stringAt(request, 'podSandboxId'), stringAt(response, 'podSandboxId')];
    const known = ids.flatMap((id) => (id === undefined ? [] : (this.#pods.get(id) ?? [])))[0];
    if (known !== undefined) return known;
    // A sandbox that could not be created has no ID, and a pull has only the config of its pod.
    const metadata = valueAt(request, name === 'sandbox' ? 'config' : 'sandboxConfig', 'metadata');
    const podName = stringAt(metadata, 'name');
    if (podName === undefined) return NO_POD;
    return {
      name: podName,
      namespace: stringAt(metadata, 'namespace') ?? '',
      uid: stringAt(metadata, 'uid') ?? '',
    };
  }

  #phaseOf({name, line, startMs, endMs}: Call): Phase {
    const {request, code, error, method} = line;
    const subject = subjectOf(method, request, this.#containers);
    const isFailed = code !== undefined && code !== 'OK';
    return {
      ...({name, startMs, source: 'recording'} as const),
      ...(subject !== undefined && {subject}),
      ...(endMs !== undefined && {endMs}),
      ...(isFailed && {isFailed: true as const}),
      ...(isFailed && {
        note: shorten([code, error].filter((text) => typeof text === 'string').join(': '), LONGEST_NOTE),
      }),
    };
  }

  /** Returns how long a container ran that a call has started. */
  #running({name, line, endMs}: Call): readonly Phase[] {
    const id = stringAt(line['request'], 'containerId') ?? '';
    const subject = this.#containers.get(id)?.name;
    if (name !== 'start' || endMs === undefined || line['code'] !== 'OK' || subject === undefined) return [];
    const exitMs = this.#exits.get(id) ?? this.#stops.get(id);
    const end = exitMs === undefined ? {} : {endMs: Math.max(exitMs, endMs)};
    return [{name: 'running', subject, startMs: endMs, ...end, source: 'recording'}];
  }
}

function subjectOf(
  method: unknown,
  request: unknown,
  containers: ReadonlyMap<string, RecordedContainer>,
): string | undefined {
  if (method === 'PullImage') return stringAt(request, 'image', 'image');
  if (method === 'CreateContainer') return stringAt(request, 'config', 'metadata', 'name');
  if (method === 'StopPodSandbox' || method === 'RemovePodSandbox') return 'sandbox';
  return containers.get(stringAt(request, 'containerId') ?? '')?.name;
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = valueAt(value, name);
  return Array.isArray(found) ? found : [];
}
