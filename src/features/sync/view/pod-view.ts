import type {
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  PodStatus,
} from '../../../api/types/v1-status.js';
import type {CriCall, PodRef} from '../../../kubelet/index.js';
import {describeRestarts} from '../container-exit.js';

/** One line below a pod: its sandbox or a container. */
export interface PartView {
  readonly label: string;
  readonly state: string;
  readonly tone: 'busy' | 'good' | 'bad' | 'plain';
  /** Duration of the call that created the sandbox, in ms. */
  readonly durationMs?: number | undefined;
  /** Start of a container and, if it has ended, its end, in ms since the epoch; the status has whole seconds. */
  readonly ran?: {readonly fromMs: number; readonly untilMs?: number} | undefined;
}

/** View of a pod during a sync. */
export interface PodView {
  readonly ref: PodRef;
  readonly phase: string;
  readonly ip: string;
  /** Current action; empty if none. */
  readonly activity: string;
  /** Time from the start of the sync to the pod's first step, in ms; undefined once the result of the pod is known. */
  readonly waitingSinceMs: number | undefined;
  readonly sandbox: PartView | undefined;
  /** Containers by name, init containers first. */
  readonly containers: ReadonlyMap<string, PartView>;
}

/** Returns the initial view of a pod. */
export function createPodView(ref: PodRef, waitingSinceMs: number): PodView {
  return {
    ref,
    phase: 'Pending',
    ip: '',
    activity: 'inspecting',
    waitingSinceMs,
    sandbox: undefined,
    containers: new Map(),
  };
}

/** Activities by CRI method. */
const ACTIVITIES: Readonly<Record<string, string>> = {
  RunPodSandbox: 'creating the sandbox',
  StopPodSandbox: 'stopping the sandbox',
  RemovePodSandbox: 'removing the sandbox',
  CreateContainer: 'creating a container',
  StartContainer: 'starting a container',
  StopContainer: 'stopping a container',
  RemoveContainer: 'removing a container',
  PullImage: 'pulling an image',
};

/** Returns the name of the container or image that a call concerns. */
export function callSubject(
  {method, request}: Pick<CriCall, 'method' | 'request'>,
  names: ReadonlyMap<string, string>,
): string {
  const {config, image, containerId} = request as {
    readonly config?: {readonly metadata?: {readonly name?: string}};
    readonly image?: {readonly image?: string};
    readonly containerId?: string;
  };
  if (method === 'CreateContainer') return config?.metadata?.name ?? '';
  if (method === 'PullImage') return image?.image ?? '';
  return containerId === undefined ? '' : (names.get(containerId) ?? containerId.slice(0, 13));
}

/** Returns the view after the start of a call. */
export function applyCallStarted(view: PodView, call: Pick<CriCall, 'method'>, subject: string): PodView {
  const activity = ACTIVITIES[call.method] ?? call.method;
  return {
    ...view,
    activity: subject === '' ? activity : `${activity.replace(/^(\S+) an? (\S+)$/, '$1 $2')} ${subject}`,
  };
}

/** Returns the view after the end of a call. */
export function applyCallFinished(view: PodView, call: CriCall, subject: string): PodView {
  const idle = {...view, activity: ''};
  if (call.method === 'RunPodSandbox') return {...idle, sandbox: sandboxPart(call)};
  if (call.method !== 'StartContainer')
    return call.error === undefined ? applyEnd(idle, call, subject) : idle;
  const before = view.containers.get(subject);
  const part: PartView = {
    label: before?.label ?? subject,
    state: call.error === undefined ? 'started' : 'failed to start',
    tone: call.error === undefined ? 'good' : 'bad',
  };
  return {...idle, containers: new Map(view.containers).set(subject, part)};
}

/** Returns the view after a call that stops or removes something. */
function applyEnd(view: PodView, {method}: CriCall, subject: string): PodView {
  switch (method) {
    case 'StopPodSandbox':
      return {...view, sandbox: endedPart(view.sandbox, 'stopped')};
    case 'RemovePodSandbox':
      return {
        ...view,
        phase: 'Removed',
        ip: '',
        waitingSinceMs: undefined,
        sandbox: endedPart(view.sandbox, 'removed'),
      };
    case 'StopContainer': {
      const part = view.containers.get(subject);
      if (part === undefined || !/^(running|started)/.test(part.state)) return view;
      return {...view, containers: new Map(view.containers).set(subject, stoppedPart(part))};
    }
    default:
      return view;
  }
}

function stoppedPart(part: PartView): PartView {
  return {...part, state: 'stopped', tone: 'plain', ran: undefined};
}

function endedPart(part: PartView | undefined, state: string): PartView | undefined {
  return part && {...part, state, tone: 'plain', durationMs: undefined};
}

function sandboxPart(call: CriCall): PartView {
  const {podSandboxId: id = ''} = (call.response ?? {}) as {readonly podSandboxId?: string};
  const ok = call.error === undefined;
  return {
    label: ok ? `sandbox ${id.slice(0, 13)}` : 'sandbox',
    state: ok ? 'ready' : 'failed',
    tone: ok ? 'good' : 'bad',
    durationMs: call.durationMs,
  };
}

/** Returns the view with the state of the pod status. */
export function applyPodStatus(view: PodView, status: PodStatus): PodView {
  const containers = new Map<string, PartView>();
  for (const {name, label, state, ran} of containerStates(status))
    containers.set(name, {label, ...state, ran});
  return {...view, phase: status.phase ?? 'Pending', ip: status.podIP ?? '', containers};
}

/** Returns the names of the containers of a status by their ID in the runtime. */
export function containerNames({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): ReadonlyMap<string, string> {
  return new Map(
    [...initContainerStatuses, ...containerStatuses].flatMap(({name, containerID}) =>
      containerID === undefined ? [] : [[containerID.replace(/^.*:\/\//, ''), name] as const],
    ),
  );
}

type StateText = Pick<PartView, 'state' | 'tone'>;

/** View of a container. */
export interface ContainerView {
  readonly name: string;
  readonly label: string;
  readonly state: StateText;
  readonly ran: PartView['ran'];
  /** True if the runtime has created the container. */
  readonly exists: boolean;
}

/** Returns the views of all containers, init containers first. */
export function containerStates({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): readonly ContainerView[] {
  const view = (label: string, status: ContainerStatus): ContainerView => ({
    name: status.name,
    label,
    state: containerState(status),
    ran: runOf(status),
    exists: status.containerID !== undefined,
  });
  return [
    // An init container is ready only once it has completed, so "not ready" would be misleading.
    ...initContainerStatuses.map((status) => view(`init ${status.name}`, {...status, ready: true})),
    ...containerStatuses.map((status) => view(status.name, status)),
  ];
}

/** Returns when a container has run; undefined if it was never started. */
function runOf({state: {running, terminated} = {}}: ContainerStatus): PartView['ran'] {
  const fromMs = Date.parse(running?.startedAt ?? terminated?.startedAt ?? '');
  if (!(fromMs > 0)) return undefined;
  return terminated === undefined ? {fromMs} : {fromMs, untilMs: Date.parse(terminated.finishedAt ?? '')};
}

/** Describes the state of a container. */
function containerState({state = {}, ready, restartCount}: ContainerStatus): StateText {
  const {running, terminated, waiting} = state;
  const text =
    terminated === undefined
      ? running === undefined
        ? waitingText(waiting)
        : runningText(ready)
      : endedText(terminated);
  return {...text, state: `${text.state}${describeRestarts({restartCount})}`};
}

function runningText(ready: boolean): StateText {
  return ready ? {state: 'running', tone: 'good'} : {state: 'running, not ready', tone: 'busy'};
}

function endedText({exitCode, reason = 'Error'}: ContainerStateTerminated): StateText {
  if (exitCode === 0) return {state: 'completed', tone: 'good'};
  return {state: `exited with code ${exitCode}${reason === 'Error' ? '' : ` (${reason})`}`, tone: 'bad'};
}

const PENDING: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** Reports whether a waiting reason is part of a normal start. */
export function isPendingReason(reason: string): boolean {
  return PENDING.has(reason);
}

function waitingText({reason = ''}: ContainerStateWaiting = {}): StateText {
  return isPendingReason(reason) ? {state: 'waiting', tone: 'plain'} : {state: reason, tone: 'bad'};
}
