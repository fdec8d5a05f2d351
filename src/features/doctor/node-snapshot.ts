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
  readonly kernel: KernelFacts;
  readonly network: NetworkFacts;
  readonly networkMounts: Fact<readonly NetworkMountFacts[]>;
  /** Cgroups of pods below the cgroup of the kubelet; no value of it is of a pod that has another parent. */
  readonly podCgroups: Fact<readonly PodCgroup[]>;
  /** Paths of programs by name; missing ones are in no directory for programs. */
  readonly programs: Readonly<Record<string, Fact<string>>>;
  readonly disks: readonly DiskFacts[];
  readonly diskHistory: Fact<RunHistory<DiskSample>>;
  readonly mounts: Fact<readonly MountFacts[]>;
  /** Records of the kernel's log that report a problem, the last ones at the end. */
  readonly kernelLog: Fact<readonly KernelProblem[]>;
  readonly processes: Fact<ProcessTable>;
  readonly podDirs: readonly PodDirs[];
  readonly podLogs: Fact<PodLogs>;
  readonly podTokens: Fact<PodTokens>;
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
  /** Names of the runtime's handlers; the default one is empty. Empty for a runtime that does not report them. */
  readonly handlers: Fact<readonly string[]>;
  readonly sandboxes: Fact<readonly SandboxFacts[]>;
  readonly containers: Fact<readonly ContainerFacts[]>;
  readonly images: Fact<readonly ImageFacts[]>;
  /** Durations of earlier calls in ms by RPC, the last ones at the end. */
  readonly history: Fact<RunHistory<number>>;
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
  /** ID of the image, and the reference that the runtime has it by. */
  readonly images: readonly string[];
}

export interface ImageFacts {
  readonly id: string;
  readonly bytes: number;
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
  /** Processes that listen on the ports of a kubelet. */
  readonly listeners: Fact<readonly PortListener[]>;
  /** Answer of the API server about the lease of the node; unknown without a kubeconfig. */
  readonly apiServer: Fact<ApiServerFacts>;
}

export interface PortListener {
  readonly port: number;
  /** Process that listens; absent if it cannot be seen. */
  readonly process?: {readonly pid: number; readonly name: string};
}

export interface ApiServerFacts {
  readonly url: string;
  readonly status: number;
  /** Time of the API server in its answer, and duration of the request. */
  readonly date: string;
  readonly receivedAt: string;
  readonly ms: number;
  readonly node: string;
  /** Lease of the node; absent if the API server did not send it. */
  readonly lease?: {readonly renewedAt: string; readonly durationSeconds: number};
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
  /** Time at which the sync loop was last active. */
  readonly lastActiveAt: string;
  /** Source of changes of the PLEG, and time of its last relist. */
  readonly pleg: {readonly mode: 'events' | 'relists'; readonly relistedAt?: string};
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

/** Configuration of the kernel. */
export interface KernelFacts {
  /** Values of options without `CONFIG_`: `y`, `m`, or `n` for one that is not set. */
  readonly config: Fact<Readonly<Record<string, 'y' | 'm' | 'n'>>>;
}

export interface NetworkFacts {
  /** Ends of virtual cables to network namespaces. */
  readonly interfaces: Fact<readonly InterfaceFacts[]>;
  /** Address ranges of host-local, the usual plugin for addresses, by network. */
  readonly addresses: readonly AddressUse[];
  /** Answers of the name servers of the node. */
  readonly nameServers: readonly NameServerFacts[];
}

export interface InterfaceFacts {
  readonly name: string;
  readonly state: string;
}

export interface AddressUse {
  readonly network: string;
  readonly directory: string;
  /** Number of addresses that can be given out. */
  readonly size: number;
  /** Sandboxes that have addresses, as far as they were read. */
  readonly taken: Fact<{readonly count: number; readonly owners: readonly string[]}>;
}

export interface NameServerFacts {
  readonly server: string;
  /** Duration of the answer, whatever it was, in ms. */
  readonly ms: Fact<number>;
  /** True if it was asked over TCP, to which it need not answer. */
  readonly overTcp?: boolean;
}

export interface NetworkMountFacts {
  readonly path: string;
  readonly fileSystem: string;
  readonly source: string;
  /** Duration of the file system's answer, in ms. */
  readonly ms: Fact<number>;
}

export interface PodCgroup {
  readonly uid: string;
  readonly path: string;
  readonly modifiedAt: string;
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

/** Samples of earlier runs by their subject, the last ones at the end. */
export type RunHistory<T> = Readonly<Record<string, readonly T[]>>;

/** Space of a disk at an earlier run. */
export interface DiskSample {
  readonly at: string;
  readonly availableBytes: number;
}

/** ServiceAccount tokens in the volumes of pods. */
export interface PodTokens {
  readonly tokens: readonly PodToken[];
  /** Number of pods whose tokens were not read: there are too many, or they did not answer. */
  readonly podsLeftOut: number;
}

/** ServiceAccount token in a volume of a pod. */
export interface PodToken {
  readonly uid: string;
  readonly path: string;
  readonly expiresAt: string;
}

export interface MountFacts {
  readonly path: string;
  readonly fileSystem: string;
  readonly source: string;
  /** Numbers of the device of the file system, such as `8:1`: those of the kernel's own for one without a device. */
  readonly device?: string;
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
  /** Names of running programs that manage the firewall. */
  readonly firewalls: readonly string[];
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
  /** Claims of commands that no pod uses; undefined in nodes that older versions saved. */
  readonly unusedClaims?: Fact<readonly UnusedClaim[]>;
  /** Volumes that were retained after their claims; undefined in nodes that older versions saved. */
  readonly releasedVolumes?: Fact<readonly ReleasedVolume[]>;
}

/** A volume whose claim is gone, and whose data its CSI driver keeps, as its StorageClass says (Retain). */
export interface ReleasedVolume {
  /** Name of the PersistentVolume. */
  readonly name: string;
  /** Claim that it had, as `namespace/name`. */
  readonly claim: string;
  readonly driver: string;
  /** Handle of the driver. */
  readonly handle: string;
}

/** A PersistentVolumeClaim that no pod of kcri uses, but that has data. */
export interface UnusedClaim {
  /** Claim as `namespace/name`. */
  readonly claim: string;
  /** Directory of the claim; undefined if a CSI driver has created its volume. */
  readonly path?: string;
  /** CSI driver that has created its volume. */
  readonly driver?: string;
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
