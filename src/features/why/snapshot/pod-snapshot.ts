import type {Pod} from '../../../api/types/v1-pod.js';
import type {KubeletPodReport, RecordedEvent} from '../../../kubelet/index.js';
import type {PodManagerName} from '../../pods/pod-selection-flags.js';
import type {Unread} from '../finding.js';

/**
 * Facts about a pod at one time. It is plain data that JSON can hold, so that an answer can be found again on
 * another machine. Times are RFC 3339.
 */
export interface PodSnapshot {
  readonly takenAt: string;
  /** Pod with its status; `status` is the last known one if the runtime is unavailable. */
  readonly pod: Pod;
  readonly manager: PodManagerName;
  /** True if no process runs the pod, so that containers are not started again. */
  readonly isUnattended: boolean;
  /** Command that lets a process of kcri run the pod; undefined for pods of other managers. */
  readonly runsWith: string | undefined;
  /** State of the newest sandbox in the runtime; undefined if there is none, or it could not be read. */
  readonly sandbox: 'ready' | 'stopped' | undefined;
  /** Error of the runtime; undefined if it answers. */
  readonly runtimeError: string | undefined;
  /** Events that kcri recorded, the last ones at the end. */
  readonly events: readonly RecordedEvent[];
  /** Facts about the pod that only the running kubelet has. */
  readonly kubelet: KubeletPodReport | undefined;
  /** Reasons why the running kubelet cannot sync pods. */
  readonly kubeletErrors: readonly string[];
  /** Facts about containers by name. */
  readonly containers: Readonly<Record<string, ContainerFacts>>;
  readonly node: NodeFacts;
  /** Parts that could not be read. */
  readonly unread: readonly Unread[];
}

/** Facts about a container that its status does not have. Unknown facts are absent. */
export interface ContainerFacts {
  /** Last lines of the log of a container that failed. */
  readonly log?: readonly string[];
  /** TCP ports on which a process in the container's network namespace listens. */
  readonly listening?: readonly number[];
  readonly process?: ProcessFacts;
  readonly memory?: MemoryFacts;
  readonly cpu?: CpuFacts;
  /** Processes that the kernel killed for memory in instances of this container, the last one at the end. */
  readonly oomKills?: readonly OomKill[];
}

/** Main process of a container. */
export interface ProcessFacts {
  readonly pid: number;
  /** State as in /proc, such as `S` or `D`. */
  readonly state: string;
  /** Function of the kernel in which the process sleeps; empty if unknown. */
  readonly sleepsIn: string;
  /** Functions of the kernel of a process in state D, the innermost first; absent if only root may see them. */
  readonly stack?: readonly string[];
  /** True if it ignores SIGTERM, or, as the first process of its PID namespace, has no handler for it. */
  readonly ignoresTerm: boolean;
}

/** Memory of a container's cgroup, in bytes. */
export interface MemoryFacts {
  readonly limit: number;
  /** Memory that cannot be reclaimed easily: usage without inactive file pages. */
  readonly workingSet: number;
  readonly peak?: number;
}

/** Periods of the CPU limit since the start of the container. */
export interface CpuFacts {
  readonly periods: number;
  readonly throttledPeriods: number;
}

/** A process that the kernel killed for memory. Sizes are in bytes. */
export interface OomKill {
  readonly at: string;
  readonly containerId: string;
  readonly process: string;
  readonly residentBytes: number;
  /** Limit and usage of the cgroup; absent if the memory of the node ran out. */
  readonly limit?: number;
  readonly usage?: number;
  /** Number of processes in the cgroup, without the pause process. */
  readonly processes: number;
}

/** Facts about the node. */
export interface NodeFacts {
  readonly bootedAt?: string;
  /** Time at which the runtime made its socket. */
  readonly runtimeStartedAt?: string;
  /** Users of the ports and mounts that messages about the pod name; absent if none is named. */
  readonly holders?: readonly Holder[];
}

/** What uses a port of the node, or a mount. */
export interface Holder {
  /** Port or path. */
  readonly of: {readonly port: number} | {readonly path: string};
  readonly processes: readonly HolderProcess[];
  /** Other pods with the same host port, as NAMESPACE/NAME. */
  readonly pods: readonly string[];
}

export interface HolderProcess {
  readonly pid: number;
  readonly name: string;
  /** Container of the process, from its cgroup. */
  readonly containerId?: string;
}
