import type {Fact} from './fact.js';

/** Facts about a node at one time. It is plain data that JSON can hold. Times are RFC 3339. */
export interface NodeSnapshot {
  readonly takenAt: string;
  readonly isRoot: boolean;
  readonly runtime: RuntimeFacts;
  readonly kubelet: KubeletFacts;
  /** Texts of files of the kernel and the system by path. */
  readonly files: Readonly<Record<string, Fact<string>>>;
  readonly cni: CniFacts;
  readonly disks: readonly DiskFacts[];
  readonly mounts: Fact<readonly MountFacts[]>;
  /** Records of the kernel's log that report a problem, the last ones at the end. */
  readonly kernelLog: Fact<readonly KernelProblem[]>;
  readonly processes: Fact<ProcessTable>;
  readonly podDirs: readonly PodDirs[];
  readonly podLogs: Fact<PodLogs>;
}

/** Facts that the runtime reports about itself. */
export interface RuntimeFacts {
  readonly endpoint: Fact<string>;
  readonly socket: Fact<FileFacts>;
  /** Duration of each call in ms, or its error. */
  readonly calls: readonly RuntimeCall[];
  readonly version: Fact<{readonly name: string; readonly version: string}>;
  readonly conditions: Fact<readonly RuntimeConditionFacts[]>;
  readonly config: Fact<RuntimeConfigFacts>;
  readonly cgroupDriver: Fact<string>;
  readonly sandboxes: Fact<readonly SandboxFacts[]>;
  readonly containers: Fact<readonly ContainerFacts[]>;
  readonly images: Fact<readonly ImageFacts[]>;
}

export interface RuntimeCall {
  readonly rpc: string;
  readonly ms: number;
  readonly error?: string;
}

export interface RuntimeConditionFacts {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Configuration of the runtime, as far as it reports it; fields are absent otherwise. */
export interface RuntimeConfigFacts {
  readonly defaultHandler?: string;
  readonly handlers?: readonly string[];
  readonly sandboxImage?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
  readonly cniConfDir?: string;
  readonly cniBinDirs?: readonly string[];
  readonly netnsUnderStateDir?: boolean;
}

export interface SandboxFacts {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isReady: boolean;
}

export interface ContainerFacts {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly state: string;
}

export interface ImageFacts {
  readonly tags: readonly string[];
  readonly isPinned: boolean;
}

/** Facts about the kubelet of the node. */
export interface KubeletFacts {
  /** Kubelet of kcri with this root directory; null if none runs. */
  readonly own: Fact<OwnKubelet | null>;
  /** Processes named kubelet. */
  readonly processes: Fact<readonly KubeletProcess[]>;
  readonly config: Fact<KubeletConfigFacts>;
  /** Answer of /healthz. */
  readonly healthz: Fact<HttpAnswer>;
  /** Answer of /pods without credentials. */
  readonly anonymous: Fact<HttpAnswer>;
  /** Answer of the read-only port. */
  readonly readOnly: Fact<HttpAnswer>;
  readonly certificates: readonly CertificateFacts[];
}

/** Answer of an HTTP server on loopback; a status of 0 if nothing listens. */
export interface HttpAnswer {
  readonly url: string;
  readonly status: number;
}

export interface OwnKubelet {
  readonly pid: number;
  readonly errors: readonly string[];
  readonly pressures: readonly string[];
  readonly manifestProblems: readonly {readonly place: string; readonly message: string}[];
}

export interface KubeletProcess {
  readonly pid: number;
  readonly argv: readonly string[];
}

/** Configuration of the running kubelet: its file, with the problems and the fields that have no effect. */
export interface KubeletConfigFacts {
  readonly path: string;
  readonly problems: readonly string[];
  readonly ineffective: readonly string[];
  readonly cgroupDriver?: string;
  readonly failSwapOn?: boolean;
  /** Ports; 0 if the server is off. */
  readonly ports?: {readonly healthz: number; readonly api: number; readonly readOnly: number};
}

export interface CertificateFacts {
  readonly path: string;
  readonly fact: Fact<{readonly subject: string; readonly notAfter: string}>;
}

/** Network configurations and plugins. */
export interface CniFacts {
  readonly confDir: string;
  readonly configs: Fact<readonly {readonly path: string; readonly text: Fact<string>}[]>;
  readonly binDirs: readonly string[];
  /** Files of the directories of plugins. */
  readonly plugins: Fact<readonly {readonly name: string; readonly isExecutable: boolean}[]>;
  /** Network namespaces made by CNI runtimes. */
  readonly netns: Fact<{readonly directory: string; readonly names: readonly string[]}>;
}

export interface DiskFacts {
  /** Use of the directory, such as `pod logs`. */
  readonly use: string;
  readonly path: string;
  readonly space: Fact<{
    readonly bytes: number;
    readonly availableBytes: number;
    readonly inodes: number;
    readonly freeInodes: number;
  }>;
}

export interface MountFacts {
  readonly path: string;
  readonly fileSystem: string;
  readonly source: string;
  readonly isReadOnly: boolean;
}

export interface KernelProblem {
  readonly at: string;
  readonly text: string;
}

/** Processes of the node that matter. */
export interface ProcessTable {
  /** Names of running programs that set the clock. */
  readonly timeKeepers: readonly string[];
  /** Shims of containerd. */
  readonly shims: readonly ShimFacts[];
}

export interface ShimFacts {
  readonly pid: number;
  readonly namespace: string;
  readonly id: string;
  readonly address: string;
}

/** Directories of pods below a root directory. */
export interface PodDirs {
  readonly rootDir: string;
  readonly pods: Fact<readonly {readonly uid: string; readonly modifiedAt: string}[]>;
  /** UIDs of the pods that kcri has records of. */
  readonly records: Fact<readonly string[]>;
}

/** Log files of pods. */
export interface PodLogs {
  readonly directory: string;
  readonly count: number;
  /** False if there are more files than were looked at. */
  readonly isComplete: boolean;
  /** The largest files. */
  readonly largest: readonly {readonly path: string; readonly bytes: number}[];
}

export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'socket' | 'other';
  readonly mode: number;
  readonly owner: number;
  readonly bytes: number;
  readonly modifiedAt: string;
}
