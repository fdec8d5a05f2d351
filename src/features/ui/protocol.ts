/**
 * What the page of `kcri ui` and its server say to each other, as JSON. The page imports these types only.
 *
 * `POST /api/session` exchanges the one-time token of the link (`/#token=…`) for a session key; all other requests below
 * `/api/` carry it as `Authorization: Bearer KEY`, and the WebSocket as the subprotocol `kcri.session.KEY`. There are no
 * cookies, which ports of one host share.
 */

/** Body of `POST /api/session`. */
export interface SessionRequest {
  readonly token: string;
}

/** Answer to `POST /api/session`. */
export interface Session {
  readonly key: string;
  readonly version: string;
  /** Actions of `--allow`; empty if the page is read-only. */
  readonly allowed: readonly UiAction[];
}

/** Action that `--allow` permits. */
export type UiAction = 'exec' | 'restart' | 'delete';

/** Answer to a request that failed, with a status of 400 or more. */
export interface UiError {
  readonly error: string;
  readonly hint?: string;
}

/** Line of `GET /api/live`, a stream of JSON lines: the state first, then what changed. */
export type LiveMessage = LiveState | LiveUpdate;

/** All nodes and pods, at the start of a stream. */
export interface LiveState {
  readonly kind: 'state';
  readonly nowMs: number;
  readonly nodes: readonly UiNode[];
  readonly pods: readonly UiPod[];
  /** Usage by the key of a pod. */
  readonly usage?: Readonly<Record<string, UiUsage>>;
  /** Recent values by the key of a node, pod or container, oldest first; the last is that of this state. */
  readonly history: Readonly<Record<string, UiHistory>>;
}

/** Message with the changes since the one before it; without changes, it has only the time. */
export interface LiveUpdate {
  readonly kind: 'update';
  readonly nowMs: number;
  /** Nodes that differ. */
  readonly nodes?: readonly UiNode[];
  /** Pods that are new or differ in more than their usage. */
  readonly pods?: readonly UiPod[];
  /** Usage that differs, by the key of a pod; always that of `pods`. */
  readonly usage?: Readonly<Record<string, UiUsage>>;
  /** Keys of pods that are gone. */
  readonly removed?: readonly string[];
}

/**
 * CPU usage in percent of one core and memory usage in bytes of a pod, followed by those of each of its containers in their order;
 * null if unknown.
 */
export type UiUsage = readonly (number | null)[];

/** Usage over time, one value per sample. */
export interface UiHistory {
  readonly timesMs: readonly number[];
  /** Percentage of one core; null if unknown. */
  readonly cpuPercent: readonly (number | null)[];
  readonly memoryBytes: readonly (number | null)[];
}

/** A node, and what it measures. Absent values are unknown. */
export interface UiNode {
  /** `node NAME`. */
  readonly key: string;
  readonly name: string;
  /** Error of the last sample. */
  readonly failure?: string;
  /** Time of the measurement, in ms since the epoch: a slow node is measured less often than the others. */
  readonly measuredMs?: number;
  /** Percentage of all cores. */
  readonly cpuPercent?: number;
  readonly cores?: number;
  readonly memoryBytes?: number;
  readonly memoryTotalBytes?: number;
  readonly disks?: readonly UiDisk[];
  /** Pressure stall information: share of the last ten seconds in which some task waited, in percent. */
  readonly pressure?: Readonly<Partial<Record<'cpu' | 'memory' | 'io', number>>>;
  readonly runtime?: string;
}

/** A file system that the kubelet or the runtime uses. */
export interface UiDisk {
  readonly name: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
}

/** A row: what pods and containers have in common. */
export interface UiRow {
  /** Identity of the pod or container among those of all nodes. */
  readonly key: string;
  readonly name: string;
  readonly state: string;
  /** How the state is to be seen. */
  readonly tone: 'good' | 'busy' | 'bad' | 'done';
  /** `1/2` of a pod; `yes` or `no` of a container. */
  readonly ready: string;
  readonly restarts: number;
  /** Usage; the server sends it separately. */
  readonly cpuPercent?: number;
  readonly memoryBytes?: number;
  /** Time of creation or start, in ms since the epoch. */
  readonly startedMs?: number;
}

/** A pod with its containers. */
export interface UiPod extends UiRow {
  readonly node: string;
  readonly namespace: string;
  readonly uid: string;
  readonly manager: 'kcri' | 'kubelet' | 'none';
  /** Why the pod does not run, in one line. */
  readonly why?: string;
  /** True if its node does not answer. */
  readonly isStale?: boolean;
  readonly containers: readonly UiContainer[];
}

/** A container of a pod. */
export interface UiContainer extends UiRow {
  readonly image: string;
  /** Absent until it is created. */
  readonly id?: string;
  readonly probes?: string;
  /** CPUs that only this container uses, such as `2-3`. */
  readonly exclusiveCpus?: string;
}

/** Answer to `GET /api/pod?key=KEY&part=PART`, by part; texts have no control characters but line feeds. */
export interface PodParts {
  readonly status: {readonly text: string};
  readonly why: {readonly text: string};
  readonly events: {readonly events: readonly UiEvent[]};
  readonly timeline: {readonly svg: string} | {readonly missing: string};
  readonly manifest: {readonly lines: readonly ManifestLine[]};
}

/** An event of a pod. */
export interface UiEvent {
  readonly timeMs: number;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** A line of the effective manifest as YAML, with the origin of its value unless the manifest itself has it. */
export interface ManifestLine {
  readonly text: string;
  readonly origin?: string;
}

/**
 * `GET /api/logs?key=KEY[&container=NAME][&previous=true][&tail=N]` answers with the output as text that goes on until
 * the request is aborted. KEY is of a pod or a container.
 */

/** Answer to `GET /api/node?key=KEY`: details of a node. */
export interface NodeDetails {
  /** `kcri describe node`. */
  readonly text: string;
  /** Sockets, NUMA nodes and cores; absent if the node's /sys cannot be read. */
  readonly topology?: readonly UiSocket[];
}

/** A socket of a node. */
export interface UiSocket {
  readonly id: number;
  readonly numaNodes: readonly {
    readonly id: number;
    readonly memoryBytes?: number;
    readonly cores: readonly {
      readonly id: number;
      /** CPUs (threads) of the core, with the container that owns each exclusively, or the pool. */
      readonly cpus: readonly {readonly id: number; readonly owner: string; readonly isExclusive: boolean}[];
    }[];
  }[];
}

/** Answer to `GET /api/doctor?key=KEY`: the checks of `kcri doctor` on a node. */
export interface DoctorAnswer {
  readonly checks: readonly {
    readonly id: string;
    readonly title: string;
    readonly outcome: 'ok' | 'warning' | 'failure' | 'skipped';
    readonly details: readonly string[];
    readonly remedy?: string;
  }[];
}

/** Body of `POST /api/restart` and `POST /api/delete`, answered by 204 when it is done. */
export interface ActionRequest {
  readonly key: string;
}

/**
 * WebSocket `/api/exec?key=KEY&columns=N&rows=N`: a shell on a terminal in a container. Binary messages are input and output;
 * text messages are these. With `flow` the page asks the server to hold back output, or to continue.
 */
export type TerminalMessage =
  | {readonly kind: 'resize'; readonly columns: number; readonly rows: number}
  | {readonly kind: 'flow'; readonly isPaused: boolean}
  | {readonly kind: 'end'; readonly exitCode?: number; readonly error?: string};
