import type {
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  PodStatus,
} from '../../api/v1-status.js';
import type {CriCall, PodRef} from '../../kubelet/index.js';

/** One line below a pod: its sandbox or a container. */
export interface PartView {
  readonly label: string;
  readonly state: string;
  readonly tone: 'busy' | 'good' | 'bad' | 'plain';
  /** What the step that made it took, in milliseconds. */
  readonly tookMs: number | undefined;
}

/** A pod as it is shown while it is synced. */
export interface PodView {
  readonly ref: PodRef;
  readonly phase: string;
  readonly ip: string;
  /** What is being done right now; empty when nothing is. */
  readonly doing: string;
  readonly sandbox: PartView | undefined;
  /** Init containers first; by name. */
  readonly containers: ReadonlyMap<string, PartView>;
}

/** A pod before anything has happened. */
export function initialView(ref: PodRef): PodView {
  return {ref, phase: 'Pending', ip: '', doing: 'looking', sandbox: undefined, containers: new Map()};
}

/** What a call is while it runs. */
const DOING: Readonly<Record<string, string>> = {
  RunPodSandbox: 'creating the sandbox',
  StopPodSandbox: 'stopping the sandbox',
  RemovePodSandbox: 'removing the sandbox',
  CreateContainer: 'creating a container',
  StartContainer: 'starting a container',
  StopContainer: 'stopping a container',
  RemoveContainer: 'removing a container',
  PullImage: 'pulling an image',
};

/** What a call was about, in a word: the container's or the image's name. */
export function subjectOf(
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

/** The view once a call has begun. */
export function callBegun(view: PodView, call: Pick<CriCall, 'method'>, subject: string): PodView {
  const doing = DOING[call.method] ?? call.method;
  return {
    ...view,
    doing: subject === '' ? doing : `${doing.replace(/^(\S+) an? (\S+)$/, '$1 $2')} ${subject}`,
  };
}

/** The view once a call has ended. */
export function callEnded(view: PodView, call: CriCall, subject: string): PodView {
  const idle = {...view, doing: ''};
  if (call.method === 'RunPodSandbox') return {...idle, sandbox: sandboxPart(call)};
  if (call.method === 'RemovePodSandbox' && call.error === undefined) return removed(idle);
  if (call.method !== 'StartContainer') return idle;
  const before = view.containers.get(subject);
  const part: PartView = {
    label: before?.label ?? subject,
    state: call.error === undefined ? 'started' : 'failed to start',
    tone: call.error === undefined ? 'good' : 'bad',
    tookMs: call.durationMs,
  };
  return {...idle, containers: new Map(view.containers).set(subject, part)};
}

function sandboxPart(call: CriCall): PartView {
  const {podSandboxId: id = ''} = (call.response ?? {}) as {readonly podSandboxId?: string};
  const ok = call.error === undefined;
  return {
    label: ok ? `sandbox ${id.slice(0, 13)}` : 'sandbox',
    state: ok ? 'ready' : 'failed',
    tone: ok ? 'good' : 'bad',
    tookMs: call.durationMs,
  };
}

/** Only a pod's end removes its sandbox. */
function removed(view: PodView): PodView {
  const {sandbox} = view;
  const gone = sandbox && {...sandbox, state: 'removed', tone: 'plain' as const, tookMs: undefined};
  return {...view, phase: 'Removed', ip: '', sandbox: gone};
}

/** The view with what the pod's status says. */
export function statusSeen(view: PodView, status: PodStatus): PodView {
  const containers = new Map<string, PartView>();
  for (const {name, label, state} of containerStates(status))
    containers.set(name, {label, ...state, tookMs: view.containers.get(name)?.tookMs});
  return {...view, phase: status.phase ?? 'Pending', ip: status.podIP ?? '', containers};
}

type StateText = Pick<PartView, 'state' | 'tone'>;

/** A container as it is shown. */
export interface ContainerView {
  readonly name: string;
  readonly label: string;
  readonly state: StateText;
  /** The runtime has made it. */
  readonly exists: boolean;
}

/** The pod's containers, init containers first. */
export function containerStates({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): readonly ContainerView[] {
  const view = (label: string, status: ContainerStatus): ContainerView => ({
    name: status.name,
    label,
    state: containerState(status),
    exists: status.containerID !== undefined,
  });
  return [
    // An init container becomes ready by ending: until then, running says all.
    ...initContainerStatuses.map((status) => view(`init ${status.name}`, {...status, ready: true})),
    ...containerStatuses.map((status) => view(status.name, status)),
  ];
}

/** A container's state in a few words. */
function containerState({state = {}, ready, restartCount}: ContainerStatus): StateText {
  const {running, terminated, waiting} = state;
  const text =
    terminated === undefined
      ? running === undefined
        ? waitingText(waiting)
        : runningText(ready)
      : endedText(terminated);
  return restartCount === 0 ? text : {...text, state: `${text.state}, restarted ${restartCount}×`};
}

function runningText(ready: boolean): StateText {
  return ready ? {state: 'running', tone: 'good'} : {state: 'running, not ready', tone: 'busy'};
}

function endedText({exitCode, reason = 'Error'}: ContainerStateTerminated): StateText {
  if (exitCode === 0) return {state: 'completed', tone: 'good'};
  return {state: `exited with code ${exitCode}${reason === 'Error' ? '' : ` (${reason})`}`, tone: 'bad'};
}

const PENDING: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** True for the waiting reasons that only say that it is not this container's turn yet. */
export function isPending(reason: string): boolean {
  return PENDING.has(reason);
}

function waitingText({reason = ''}: ContainerStateWaiting = {}): StateText {
  return isPending(reason) ? {state: 'waiting', tone: 'plain'} : {state: reason, tone: 'bad'};
}
