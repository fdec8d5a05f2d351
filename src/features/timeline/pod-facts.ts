import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {ContainerStatus} from '../../api/types/v1-status.js';
import type {RecordedEvent, TimelineStep, VolumeHistory} from '../../kubelet/index.js';
import type {PodManagerName} from '../pods/pod-selection-flags.js';

/** Sandbox of a pod. Times are in ms since the epoch. */
export interface SandboxTimes {
  readonly createdMs: number;
}

/** Instance of a container. Times are in ms since the epoch; absent for what has not happened. */
export interface ContainerTimes {
  readonly id: string;
  readonly name: string;
  readonly createdMs: number;
  readonly startedMs?: number;
  readonly finishedMs?: number;
  readonly exitCode?: number;
  /** End that was concluded from other times; absent for one of the runtime. */
  readonly inferredEnd?: string;
}

/** Facts that the phases of a pod follow from. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly manager: PodManagerName;
  /** Pod with its status. */
  readonly pod: Pod;
  /** Sandboxes and containers that the runtime still has, the oldest first. */
  readonly sandboxes: readonly SandboxTimes[];
  readonly containers: readonly ContainerTimes[];
  readonly events: readonly RecordedEvent[];
  /** Volumes with the times of their mounts, of a pod of kcri. */
  readonly mounts: readonly Pick<VolumeHistory, 'name' | 'mountedAt' | 'mountMs'>[];
  /** Steps that the running kubelet of kcri measured. */
  readonly steps: readonly TimelineStep[];
  /** True if the pod is gone from the node. */
  readonly isDeleted?: true;
  readonly nowMs: number;
}

/** Returns the time at which a kubelet saw the pod first, or it was created; in ms since the epoch. */
export function seenMsOf({pod: {metadata}}: PodFacts): number | undefined {
  return parseMs(metadata.annotations?.['kubernetes.io/config.seen'] ?? metadata.creationTimestamp);
}

/** Reports whether a container is an init container that others wait for until it has ended. */
export function isInitContainer({pod: {spec}}: PodFacts, name: string): boolean {
  return spec.initContainers?.some((init) => init.name === name && init.restartPolicy !== 'Always') === true;
}

/** Returns a container of the spec that must become ready: a regular one or a sidecar. */
export function findContainer(facts: PodFacts, name: string): Container | undefined {
  const {initContainers = [], containers} = facts.pod.spec;
  if (isInitContainer(facts, name)) return undefined;
  return [...containers, ...initContainers].find((container) => container.name === name);
}

/** Returns the status of a container, also of an init container. */
export function statusOf({pod: {status}}: PodFacts, name: string): ContainerStatus | undefined {
  const {initContainerStatuses = [], containerStatuses = []} = status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find((each) => each.name === name);
}

/** Returns the start time of the status, which has whole seconds; in ms since the epoch. */
export function startTimeMsOf({pod: {status}}: PodFacts): number | undefined {
  return parseMs(status?.startTime);
}

/** Returns the time of an RFC 3339 text in ms since the epoch; undefined without a valid one. */
export function parseMs(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
