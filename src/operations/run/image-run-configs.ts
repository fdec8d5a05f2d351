import {RUN_ANNOTATION} from '../../api/manager-annotation.js';
import {MASKED_PATHS, READONLY_PATHS} from '../../api/proc-paths.js';
import {textToBytes} from '../../base/byte-text.js';
import type {
  ContainerConfig,
  Device,
  DNSConfig,
  Init,
  LinuxContainerSecurityContext,
  Mount,
  NamespaceOption,
  PodSandboxConfig,
  PodUid,
  PortMapping,
} from '../../cri/index.js';
import {buildResourceUpdate, type ResourceChanges} from '../containers/update-resources.js';
import {toDnsLabel} from '../generate/generate-volumes.js';
import type {SecurityOptions} from './parse-security-option.js';

/** Namespace of the pods of `kcri run`. */
export const RUN_NAMESPACE = 'default';

/** Container to run from an image in a pod of its own. */
export interface ImageRun {
  /** Name of the pod and of its container. */
  readonly name: string;
  readonly uid: PodUid;
  readonly image: string;
  /** Command and arguments, or the arguments of `entrypoint`; empty for those of the image. */
  readonly words: readonly string[];
  /** Program that replaces the image's entrypoint; an empty text removes it. */
  readonly entrypoint?: string | undefined;
  readonly environment: ReadonlyMap<string, string>;
  readonly workdir?: string | undefined;
  readonly user: Pick<Init<LinuxContainerSecurityContext>, 'runAsUser' | 'runAsUsername' | 'runAsGroup'>;
  readonly mounts: readonly Init<Mount>[];
  readonly ports: readonly Init<PortMapping>[];
  readonly hostNetwork: boolean;
  /** True to share the process namespace of the node. */
  readonly hostPid?: boolean | undefined;
  /** True to share the IPC namespace of the node. */
  readonly hostIpc?: boolean | undefined;
  readonly hostname?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly privileged: boolean;
  readonly readonlyRootfs: boolean;
  readonly capAdd: readonly string[];
  readonly capDrop: readonly string[];
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly devices?: readonly Init<Device>[] | undefined;
  readonly dns?: Init<DNSConfig> | undefined;
  readonly sysctls?: Readonly<Record<string, string>> | undefined;
  readonly supplementalGroups?: readonly bigint[] | undefined;
  readonly security?: SecurityOptions | undefined;
  readonly resources?: ResourceChanges | undefined;
  /** True to keep standard input open; `once` to close it when the first attached session ends. */
  readonly stdin: boolean | 'once';
  readonly tty: boolean;
  readonly logDirectory: string;
  /** Name of the log file. */
  readonly logName: string;
  readonly cgroupDriver: 'systemd' | 'cgroupfs';
}

/** Returns a name for the container of an image: `busybox-4f1c2`. */
export function generateRunName(image: string, uid: PodUid): string {
  const repository = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  const base = toDnsLabel(repository.slice(repository.lastIndexOf('/') + 1)).slice(0, 50);
  return `${base === '' ? 'container' : base}-${uid.replaceAll('-', '').slice(0, 5)}`;
}

/**
 * Returns the config of the pod sandbox. It has no labels of a kubelet, so that kcri's own kubelet leaves it alone.
 * Without a cgroup parent, runtimes with the systemd driver cannot create the sandbox.
 */
export function runSandboxConfig(run: ImageRun): Init<PodSandboxConfig> {
  const {name, uid, hostNetwork, hostname, labels, privileged, logDirectory, cgroupDriver} = run;
  return {
    metadata: {name, uid, namespace: RUN_NAMESPACE, attempt: 0},
    hostname: hostNetwork ? '' : (hostname ?? toDnsLabel(name)),
    logDirectory,
    portMappings: run.ports,
    labels,
    annotations: {...run.annotations, [RUN_ANNOTATION]: 'true'},
    dnsConfig: run.dns,
    linux: {
      cgroupParent: cgroupDriver === 'systemd' ? 'system.slice' : '',
      sysctls: run.sysctls ?? {},
      securityContext: {
        privileged,
        namespaceOptions: namespaces(run),
        seccomp: {profileType: 'RuntimeDefault'},
      },
    },
  };
}

/** Returns the config of the container. */
export function runContainerConfig(run: ImageRun): Init<ContainerConfig> {
  const {name, image, environment, workdir, mounts, labels, stdin, tty, logName} = run;
  return {
    metadata: {name, attempt: 0},
    image: {image, userSpecifiedImage: image},
    ...commandLine(run),
    workingDir: workdir ?? '',
    envs: [...environment].map(([key, value]) => ({key, value: textToBytes(value)})),
    mounts,
    devices: run.devices ?? [],
    labels,
    annotations: run.annotations ?? {},
    logPath: logName,
    stdin: stdin !== false,
    stdinOnce: stdin === 'once',
    tty,
    linux: {
      resources: buildResourceUpdate(run.resources ?? {}),
      securityContext: securityContext(run),
    },
  };
}

function commandLine({entrypoint, words}: ImageRun): Pick<Init<ContainerConfig>, 'command' | 'args'> {
  if (entrypoint === undefined) return {args: words};
  return entrypoint === '' ? {command: words} : {command: [entrypoint], args: words};
}

function namespaces({hostNetwork, hostPid = false, hostIpc = false}: ImageRun): Init<NamespaceOption> {
  return {
    network: hostNetwork ? 'NODE' : 'POD',
    pid: hostPid ? 'NODE' : 'CONTAINER',
    ipc: hostIpc ? 'NODE' : 'POD',
  };
}

function securityContext(run: ImageRun): Init<LinuxContainerSecurityContext> {
  const {privileged, readonlyRootfs, capAdd, capDrop, user} = run;
  return {
    ...user,
    privileged,
    readonlyRootfs,
    supplementalGroups: run.supplementalGroups ?? [],
    namespaceOptions: namespaces(run),
    capabilities: {addCapabilities: capAdd, dropCapabilities: capDrop},
    ...(!privileged && {
      seccomp: {profileType: 'RuntimeDefault' as const},
      maskedPaths: MASKED_PATHS,
      readonlyPaths: READONLY_PATHS,
    }),
    ...run.security,
  };
}
