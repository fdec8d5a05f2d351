import {shorten} from '../../base/shorten.js';
import {isObject} from '../../base/is-object.js';
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
  readonly #calls: Call[] = [];
  #lastMs = 0;

  add(line: JsonObject): void {
    const startMs = parseMs(textAt(line, 'time'));
    if (startMs === undefined) return;
    const {durationMs} = line;
    const endMs = typeof durationMs === 'number' ? startMs + durationMs : undefined;
    this.#lastMs = Math.max(this.#lastMs, endMs ?? startMs);
    this.#learn(line, startMs);
    const method = textAt(line, 'method') ?? '';
    const name = Object.hasOwn(CALL_PHASES, method) ? CALL_PHASES[method] : undefined;
    // Of streams, only messages have no service.
    if (name !== undefined && line['service'] !== undefined) this.#calls.push({name, line, startMs, endMs});
  }

  #learn(line: JsonObject, timeMs: number): void {
    const {method, request, response} = line;
    this.#learnPods(method, request, response);
    if (method === 'CreateContainer')
      this.#learnContainer(textAt(response, 'containerId'), {
        sandboxId: textAt(request, 'podSandboxId') ?? '',
        name: textAt(request, 'config', 'metadata', 'name') ?? '',
      });
    if (method === 'ListContainers')
      for (const item of listAt(response, 'containers'))
        this.#learnContainer(textAt(item, 'id'), {
          sandboxId: textAt(item, 'podSandboxId') ?? '',
          name: textAt(item, 'metadata', 'name') ?? '',
        });
    if (textAt(line, 'message', 'containerEventType') === 'CONTAINER_STOPPED_EVENT')
      this.#exits.set(textAt(line, 'message', 'containerId') ?? '', timeMs);
  }

  #learnPods(method: unknown, request: unknown, response: unknown): void {
    if (method === 'RunPodSandbox')
      this.#learnPod(textAt(response, 'podSandboxId'), at(request, 'config', 'metadata'));
    if (method === 'PodSandboxStatus')
      this.#learnPod(textAt(response, 'status', 'id'), at(response, 'status', 'metadata'));
    if (method === 'ListPodSandbox')
      for (const item of listAt(response, 'items')) this.#learnPod(textAt(item, 'id'), at(item, 'metadata'));
  }

  #learnPod(id: string | undefined, metadata: unknown): void {
    const name = textAt(metadata, 'name');
    if (id === undefined || name === undefined) return;
    const [namespace = '', uid = id] = [textAt(metadata, 'namespace'), textAt(metadata, 'uid')];
    this.#pods.set(id, {namespace, name, uid});
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
    const container = this.#containers.get(textAt(request, 'containerId') ?? '');
    const ids = [container?.sandboxId, textAt(request, 'podSandboxId'), textAt(response, 'podSandboxId')];
    const known = ids.flatMap((id) => (id === undefined ? [] : (this.#pods.get(id) ?? [])))[0];
    if (known !== undefined) return known;
    // A sandbox that could not be created has no ID, and a pull has only the config of its pod.
    const metadata = at(request, name === 'sandbox' ? 'config' : 'sandboxConfig', 'metadata');
    const podName = textAt(metadata, 'name');
    if (podName === undefined) return NO_POD;
    return {
      ...{name: podName, namespace: textAt(metadata, 'namespace') ?? '', uid: textAt(metadata, 'uid') ?? ''},
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
    const id = textAt(line['request'], 'containerId') ?? '';
    const subject = this.#containers.get(id)?.name;
    if (name !== 'start' || endMs === undefined || line['code'] !== 'OK' || subject === undefined) return [];
    const stopped = this.#calls.find(
      (call) => call.name === 'stop' && textAt(call.line['request'], 'containerId') === id,
    )?.endMs;
    const exitMs = this.#exits.get(id) ?? stopped;
    const end = exitMs === undefined ? {} : {endMs: Math.max(exitMs, endMs)};
    return [{name: 'running', subject, startMs: endMs, ...end, source: 'recording'}];
  }
}

function subjectOf(
  method: unknown,
  request: unknown,
  containers: ReadonlyMap<string, RecordedContainer>,
): string | undefined {
  if (method === 'PullImage') return textAt(request, 'image', 'image');
  if (method === 'CreateContainer') return textAt(request, 'config', 'metadata', 'name');
  if (method === 'StopPodSandbox' || method === 'RemovePodSandbox') return 'sandbox';
  return containers.get(textAt(request, 'containerId') ?? '')?.name;
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), value);
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = at(value, name);
  return Array.isArray(found) ? found : [];
}
