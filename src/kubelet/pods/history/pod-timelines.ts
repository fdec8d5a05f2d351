import type {Pod} from '../../../api/types/v1-pod.js';
import {isPodReady, type ContainerStatus, type PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import {omit} from '../../../base/omit.js';
import {stringAt} from '../../../base/string-at.js';
import type {PodUid} from '../../../cri/index.js';
import type {CriCallListener} from '../../contract/observation/observe-cri-calls.js';
import {parseContainerId} from '../../contract/parse-container-id.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import type {LastKnown} from './pod-history.js';

/** Calls that are steps of a pod's life. Those of probes and hooks (ExecSync) repeat without end. */
const STEP_CALLS = [
  'RunPodSandbox',
  'PullImage',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'RemoveContainer',
  'StopPodSandbox',
  'RemovePodSandbox',
] as const;

/** Number of steps that are kept of a pod: the first ones, which are its start, and the last ones. */
const KEPT_FIRST = 32;
const KEPT_LAST = 32;
/** Number of pods whose steps are kept. The one that changed least recently is dropped. */
const MAX_PODS = 256;
/** A start time is that of a pod whose life has just begun if it is not older, in ms: it has whole seconds. */
const NEW_POD_MS = 2000;

/**
 * A step of a pod's life: a call of the runtime, the preparation of its volumes, or a moment at which its status changed.
 * `Admitted`: its first sync; `Started`: the startup probe of the container succeeded, or it has none; `Exited`: the status has
 * the exit of an instance of the container.
 */
export interface TimelineStep {
  readonly step:
    | (typeof STEP_CALLS)[number]
    | 'PrepareVolumes'
    | 'Admitted'
    | 'Started'
    | 'Ready'
    | 'NotReady'
    | 'PodReady'
    | 'Exited'
    | 'Deleted';
  /** Start, in ms since the epoch. */
  readonly at: number;
  /** Duration in ms; absent for a moment and for a step that has not ended. */
  readonly ms?: number;
  readonly isOpen?: true;
  readonly isFailed?: true;
  readonly container?: string;
  readonly containerId?: string;
  readonly image?: string;
  /** Exit code of an instance that exited. */
  readonly exitCode?: number;
}

/** Steps of a pod that is gone, and the pod with its last status. */
export interface PodLife {
  readonly pod: Pod;
  readonly steps: readonly TimelineStep[];
}

type StepDetails = Omit<TimelineStep, 'step' | 'at'>;

/**
 * Records when the steps of the lives of pods happened, in memory of limited size. What happened before the start of the process is
 * not known.
 */
export class PodTimelines {
  readonly #clock: Clock;
  readonly #pods = new Map<PodUid, PodSteps>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the start or the end of a call. */
  readonly call = ({uid}: PodRef, ...[begun, ended]: Parameters<CriCallListener>): void => {
    const step = STEP_CALLS.find((method) => method === begun.method);
    if (step === undefined) return;
    const steps = this.#stepsOf(uid);
    if (ended === undefined) {
      steps.begin(begun, {
        step,
        at: this.#clock.now(),
        isOpen: true,
        ...steps.subjectOf(step, begun.request),
      });
      return;
    }
    const containerId = stringAt(ended.response, 'containerId');
    steps.end(begun, {
      ms: Math.round(ended.durationMs),
      ...(ended.error !== undefined && {isFailed: true as const}),
      ...(containerId !== undefined && {containerId}),
    });
  };

  /** Records a preparation of the pod's volumes that ends now; `startedAt` is in ms of the monotonic clock. */
  readonly prepared = ({uid}: PodRef, startedAt: number, isFailed: boolean): void => {
    const ms = this.#clock.monotonic() - startedAt;
    this.#stepsOf(uid).add({
      ...{step: 'PrepareVolumes', at: this.#clock.now() - ms, ms},
      ...(isFailed && {isFailed: true as const}),
    });
  };

  /** Records what a new status of the pod tells. */
  readonly statusChanged = (pod: Pod, {status, deletion}: Omit<LastKnown, 'seenAt'>): void => {
    const now = this.#clock.now();
    const steps = this.#stepsOf(podRef(pod).uid);
    for (const step of steps.learn({pod, status, isDeleted: deletion !== undefined}, now)) steps.add(step);
  };

  /** Returns the steps of a pod in the order of their starts. */
  steps(uid: PodUid): readonly TimelineStep[] {
    return this.#pods.get(uid)?.list() ?? [];
  }

  /** Returns the lives of the pods that are not among `present`, the one that changed last at the end. */
  livesWithout(present: ReadonlySet<PodUid>): readonly PodLife[] {
    return [...this.#pods].flatMap(([uid, steps]) => (present.has(uid) ? [] : (steps.life() ?? [])));
  }

  #stepsOf(uid: PodUid): PodSteps {
    const steps = this.#pods.get(uid) ?? new PodSteps();
    this.#pods.delete(uid);
    this.#pods.set(uid, steps);
    for (const oldest of this.#pods.keys()) {
      if (this.#pods.size <= MAX_PODS) break;
      this.#pods.delete(oldest);
    }
    return steps;
  }
}

/** Status and deletion of a pod, from which steps follow. */
interface Known {
  readonly pod: Pod;
  readonly status: PodStatus;
  readonly isDeleted: boolean;
}

/** Steps of one pod. */
class PodSteps {
  readonly #first: TimelineStep[] = [];
  #last: TimelineStep[] = [];
  /** Calls that have not ended, by what the listener gets. */
  readonly #open = new Map<object, TimelineStep>();
  #known: Known | undefined;

  add(step: TimelineStep): void {
    if (this.#first.length < KEPT_FIRST) this.#first.push(step);
    else this.#last = [...this.#last, step].slice(-KEPT_LAST);
  }

  begin(call: object, step: TimelineStep): void {
    this.#open.set(call, step);
  }

  end(call: object, details: StepDetails): void {
    const begun = this.#open.get(call);
    if (begun === undefined) return;
    this.#open.delete(call);
    this.add({...omit(begun, 'isOpen'), ...details});
  }

  /** Returns the container or image of a call. */
  subjectOf(step: TimelineStep['step'], request: Readonly<Record<string, unknown>>): StepDetails {
    if (step === 'PullImage') {
      const image = stringAt(request, 'image', 'image');
      return image === undefined ? {} : {image};
    }
    const containerId = stringAt(request, 'containerId');
    const container =
      stringAt(request, step === 'CreateContainer' ? 'config' : '', 'metadata', 'name') ??
      this.list().find((other) => containerId !== undefined && other.containerId === containerId)?.container;
    return {...(container !== undefined && {container}), ...(containerId !== undefined && {containerId})};
  }

  /** Returns the steps that a status shows, compared with the last one. The first one of an older pod shows none. */
  learn(known: Known, now: number): readonly TimelineStep[] {
    const before = this.#known;
    this.#known = known;
    if (before !== undefined) return changesOf(before, known, now);
    const {startTime, phase} = known.status;
    const isNew = phase === 'Pending' && now - Date.parse(startTime ?? '') < NEW_POD_MS;
    return isNew ? [{step: 'Admitted', at: now}] : [];
  }

  /** Returns the life of the pod; undefined before its first status. */
  life(): PodLife | undefined {
    if (this.#known === undefined) return undefined;
    const {pod, status} = this.#known;
    return {pod: {...pod, status}, steps: this.list()};
  }

  list(): readonly TimelineStep[] {
    return [...this.#first, ...this.#last, ...this.#open.values()].toSorted((a, b) => a.at - b.at);
  }
}

/** Returns the steps between two statuses. Pure. */
function changesOf(before: Known, after: Known, at: number): readonly TimelineStep[] {
  const old = new Map(containerStatusesOf(before.status).map((status) => [status.name, status]));
  const ofContainers = containerStatusesOf(after.status).flatMap(
    ({name, started = false, ready}): readonly TimelineStep[] => {
      const {started: wasStarted = false, ready: wasReady = false} = old.get(name) ?? {};
      const moment = (step: TimelineStep['step']): TimelineStep => ({step, at, container: name});
      return [
        ...(started && !wasStarted ? [moment('Started')] : []),
        ...(ready && !wasReady ? [moment('Ready')] : []),
        ...(!ready && wasReady ? [moment('NotReady')] : []),
      ];
    },
  );
  return [
    ...ofContainers,
    ...exitsIn(before.status, after.status, at),
    ...(isPodReady(after.status) && !isPodReady(before.status) ? [{step: 'PodReady', at} as const] : []),
    ...(after.isDeleted && !before.isDeleted ? [{step: 'Deleted', at} as const] : []),
  ];
}

/** Returns the exits that only the later one of two statuses has. Pure. */
function exitsIn(before: PodStatus, after: PodStatus, at: number): readonly TimelineStep[] {
  const known = new Set(terminatedIn(before).map(({containerID}) => containerID));
  return terminatedIn(after)
    .filter(({containerID}) => !known.has(containerID))
    .map(({name, containerID, exitCode}) => ({
      ...({step: 'Exited', at, container: name} as const),
      containerId: parseContainerId(containerID),
      exitCode,
    }));
}

/** Returns the instances that have exited, of those that a status has. */
function terminatedIn(status: PodStatus): readonly {name: string; containerID: string; exitCode: number}[] {
  return containerStatusesOf(status).flatMap(({name, state, lastState}) =>
    [state?.terminated, lastState?.terminated].flatMap((terminated) =>
      terminated?.containerID === undefined
        ? []
        : {name, containerID: terminated.containerID, exitCode: terminated.exitCode},
    ),
  );
}

function containerStatusesOf({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): readonly ContainerStatus[] {
  return [...initContainerStatuses, ...containerStatuses];
}
