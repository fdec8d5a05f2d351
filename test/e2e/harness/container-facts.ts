import {existsSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import {hostname} from 'node:os';
import {containerId, podSandboxId, type ContainerId, type PodSandboxId} from '../../../src/cri/index.js';
import type {ComparableCall} from '../../../src/recording/canonical/canonical-calls.js';
import type {PodTestbed} from './pod-testbed.js';
import {shellCommand} from './manifests.js';
import {containerCgroup, HAS_SLICES} from './pod-cgroups.js';

/** Bounding set that containerd sets for a container that requests no capabilities. */
const DEFAULT_CAPABILITIES = '00000000a80425fb';

const NAMESPACES = {network: 'net', ipc: 'ipc', pid: 'pid'} as const;

/** Fields of a CreateContainer request with effects visible inside the container, as sent. */
interface ContainerRequest {
  readonly metadata: {readonly name: string};
  readonly envs?: readonly {readonly key: string; readonly value?: string}[];
  readonly mounts?: readonly MountRequest[];
  readonly linux: {
    readonly resources: {
      readonly cpu_shares?: string;
      readonly cpu_quota?: string;
      readonly cpu_period?: string;
      readonly memory_limit_in_bytes?: string;
      readonly oom_score_adj?: string;
    };
    readonly security_context: {
      readonly privileged?: boolean;
      readonly run_as_user?: {readonly value?: string};
      readonly no_new_privs?: boolean;
      readonly seccomp?: {readonly profile_type?: string};
      readonly namespace_options?: Readonly<Partial<Record<keyof typeof NAMESPACES, string>>>;
      readonly masked_paths?: readonly string[];
      readonly readonly_paths?: readonly string[];
    };
  };
}

interface MountRequest {
  readonly container_path: string;
  /** Absent for the mount of an image. */
  readonly host_path?: string;
  readonly readonly?: boolean;
}

/** Such fields of a RunPodSandbox request. */
interface SandboxRequest {
  readonly hostname?: string;
  readonly dns_config?: {
    readonly servers?: readonly string[];
    readonly searches?: readonly string[];
    readonly options?: readonly string[];
  };
  readonly linux: {
    readonly cgroup_parent: string;
    readonly sysctls?: Readonly<Record<string, string>>;
  };
}

/** A container created by the calls of a case. */
export interface CreatedContainer {
  readonly id: ContainerId;
  readonly name: string;
  readonly sandbox: PodSandboxId;
  readonly request: ContainerRequest;
  readonly pod: SandboxRequest;
}

/** Returns the running containers among those that the calls have created. */
export async function listRunningContainers(
  {runtime: {connection}}: PodTestbed,
  calls: readonly ComparableCall[],
): Promise<readonly CreatedContainer[]> {
  const {containers} = await connection.runtime.listContainers();
  const running = new Set<string>(
    containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({id}) => id),
  );
  return calls.flatMap(({method, code, request, response}) => {
    if (method !== 'CreateContainer' || code !== 'OK') return [];
    const id = containerId((response as {containerId: string}).containerId);
    if (!running.has(id)) return [];
    const sent = request as {
      config: ContainerRequest;
      sandbox_config: SandboxRequest;
      pod_sandbox_id: string;
    };
    const {config, sandbox_config: pod, pod_sandbox_id: sandbox} = sent;
    return [{id, name: config.metadata.name, sandbox: podSandboxId(sandbox), request: config, pod}];
  });
}

/** A created container with its properties at the time of the inspection. */
interface InspectedContainer extends CreatedContainer {
  readonly report: InspectionReport;
  /** Path of its cgroup. */
  readonly cgroup: string;
  readonly sandboxPid: number;
  readonly sharesNetwork: boolean;
  readonly ip: string;
}

/** Returns the requested value of a property, and the value found in the container. */
type Fact = (container: InspectedContainer) => readonly [requested: unknown, found: unknown];

/** Returns a CPU quota in whole percents of a CPU: with slices, systemd may write it again after the runtime did. */
function asSystemdWrites(quota: string, period: string): string {
  const percent = Number(period) / 100;
  return HAS_SLICES ? String(Math.ceil(Number(quota) / percent) * percent) : quota;
}

/** Properties that are visible inside a container. Two files are the same if device and inode are equal. */
const FACTS: Readonly<Record<string, Fact>> = {
  user: ({request, report}) => [
    request.linux.security_context.run_as_user?.value ?? '0',
    report.status('Uid').split('\t')[0],
  ],
  capabilities: ({request, report}) => [
    request.linux.security_context.privileged === true ? ownCapabilities() : DEFAULT_CAPABILITIES,
    report.status('CapBnd'),
  ],
  newPrivileges: ({request, report}) => [
    request.linux.security_context.no_new_privs === true ? '1' : '0',
    report.status('NoNewPrivs'),
  ],
  seccomp: ({request, report}) => [isConfined(request) ? '2' : '0', report.status('Seccomp')],
  oomScore: ({request, report}) => [
    reachableOomScore(Number(request.linux.resources.oom_score_adj ?? 0)),
    Number(report.section('oom')),
  ],
  memory: ({request: {linux}, report}) => {
    const {memory_limit_in_bytes: limit} = linux.resources;
    return [limit, limit && report.section('memory')];
  },
  cpuQuota: ({request: {linux}, report}) => {
    const {cpu_quota: quota, cpu_period: period = '100000'} = linux.resources;
    const found = report.section('quota').split(' ')[0] ?? '';
    return [quota && asSystemdWrites(quota, period), quota && asSystemdWrites(found, period)];
  },
  // With cgroup v2 the runtime converts shares to weights.
  cpuShares: ({request, report}) => [
    report.section('shares') && (request.linux.resources.cpu_shares ?? '2'),
    report.section('shares'),
  ],
  cgroup: ({pod, id, cgroup}) => [containerCgroup(pod.linux.cgroup_parent, id), cgroup],
  environment: ({request: {envs = []}, report}) => {
    const own = new Map(rows(report.section('environment')).map((row) => cut(row, '=')));
    return [
      Object.fromEntries(envs.map(({key, value = ''}) => [key, String(Buffer.from(value, 'base64'))])),
      Object.fromEntries(envs.map(({key}) => [key, own.get(key)])),
    ];
  },
  namespaces: ({request, report, sandboxPid}) => {
    const {namespace_options: options = {}} = request.linux.security_context;
    const keys = Object.keys(NAMESPACES) as (keyof typeof NAMESPACES)[];
    const own = rows(report.section('namespaces'));
    const whose = (key: (typeof keys)[number], index: number): string => {
      const link = (pid: number | 'self'): string => readlinkSync(`/proc/${pid}/ns/${NAMESPACES[key]}`);
      if (own[index] === link('self')) return 'NODE';
      return own[index] === link(sandboxPid) ? 'POD' : 'CONTAINER';
    };
    return [
      keys.map((key) => `${key} ${options[key] ?? 'POD'}`),
      keys.map((key, at) => `${key} ${whose(key, at)}`),
    ];
  },
  files: ({request, report}) => {
    const files = filesOf(request);
    const found = rows(report.section('files'));
    return [files.map(({container_path: path, host_path: file = ''}) => `${path} ${numberOf(file)}`), found];
  },
  readOnly: ({request: {mounts = []}, report}) => [
    mounts.filter((mount) => mount.readonly).map(({container_path: path}) => path),
    mounts.map(({container_path: path}) => path).filter((path) => report.mounts.get(path)?.includes('ro')),
  ],
  // Runtimes mask no paths of a privileged container, whatever the request.
  protectedPaths: ({request, report}) => {
    const {
      privileged,
      masked_paths: masked = [],
      readonly_paths: readOnly = [],
    } = request.linux.security_context;
    const requested = privileged === true ? [] : [...masked, ...readOnly];
    const covered = [...report.mounts.keys()].filter((path) =>
      /^\/(?:proc\/|sys\/firmware|sys\/devices\/)/.test(path),
    );
    return [requested.filter((path) => existsSync(path)).toSorted(), covered.toSorted()];
  },
  hostname: ({pod, report, sharesNetwork}) => [
    sharesNetwork ? hostname() : pod.hostname,
    report.section('hostname'),
  ],
  ownAddress: ({pod, report, ip, sharesNetwork}) => {
    const own = rows(report.section('hosts')).filter((row) => row.startsWith(`${ip}\t`));
    return [
      sharesNetwork ? [] : [pod.hostname],
      sharesNetwork ? [] : own.map((row) => row.split('\t').at(-1)),
    ];
  },
  resolver: ({pod: {dns_config: {servers = [], searches = [], options = []} = {}}, report}) => {
    const found = rows(report.section('resolver')).map((row) => cut(row, ' '));
    const values = (key: string): readonly string[] =>
      found.filter(([name]) => name === key).flatMap(([, value]) => value.split(' '));
    return [
      {servers, searches, options: options.toSorted()},
      {servers: values('nameserver'), searches: values('search'), options: values('options').toSorted()},
    ];
  },
  sysctls: ({pod: {linux}, report}) => {
    const requested = Object.entries(linux.sysctls ?? {});
    return [
      requested.map(([, value]) => value),
      rows(report.section('sysctls')).map((row) => row.replaceAll('\t', ' ')),
    ];
  },
};

/** Returns the requested and the found values of all properties, to be compared. Makes a single exec. */
export async function compareContainerFacts(
  testbed: PodTestbed,
  made: CreatedContainer,
): Promise<Readonly<Record<'requested' | 'found', object>>> {
  const {sandbox, request} = made;
  const {status} = await testbed.runtime.connection.runtime.podSandboxStatus({podSandboxId: sandbox});
  const container: InspectedContainer = {
    ...made,
    report: new InspectionReport(await testbed.exec(made.id, ...shellCommand(inspectionScript(made)))),
    cgroup: cgroupOf(await testbed.pidOf(made.id)),
    sandboxPid: await testbed.sandboxPidOf(sandbox),
    sharesNetwork: request.linux.security_context.namespace_options?.network === 'NODE',
    ip: status?.network?.ip ?? '',
  };
  const facts = Object.entries(FACTS).map(([name, fact]) => [name, fact(container)] as const);
  return {
    requested: Object.fromEntries(facts.map(([name, [requested]]) => [name, requested])),
    found: Object.fromEntries(facts.map(([name, [, found]]) => [name, found])),
  };
}

/** Returns a shell script that prints all properties; `first` prints the first of these files that exists. */
function inspectionScript({request, pod}: CreatedContainer): string {
  const first = (...files: readonly string[]): string =>
    `for f in ${files.join(' ')}; do if test -f $f; then cat $f; break; fi; done`;
  const paths = filesOf(request).map(({container_path: path}) => `'${path}'`);
  const names = Object.values(NAMESPACES).map((name) => `/proc/self/ns/${name}`);
  const sysctls = Object.keys(pod.linux.sysctls ?? {}).map(
    (name) => `/proc/sys/${name.replaceAll('.', '/')}`,
  );
  const cgroup = '/sys/fs/cgroup';
  const sections = {
    status: 'cat /proc/self/status',
    oom: 'cat /proc/self/oom_score_adj',
    environment: 'env',
    mounts: 'cat /proc/self/mountinfo',
    namespaces: names.map((name) => `readlink ${name}`).join('; '),
    memory: first(`${cgroup}/memory/memory.limit_in_bytes`, `${cgroup}/memory.max`),
    quota: first(`${cgroup}/cpu/cpu.cfs_quota_us`, `${cgroup}/cpu.max`),
    shares: first(`${cgroup}/cpu/cpu.shares`),
    files: paths.length === 0 ? '' : `stat -c '%n %d:%i' ${paths.join(' ')}`,
    hostname: 'hostname',
    hosts: 'cat /etc/hosts',
    resolver: 'cat /etc/resolv.conf',
    sysctls: sysctls.length === 0 ? '' : `cat ${sysctls.join(' ')}`,
  };
  return Object.entries(sections)
    .map(([name, command]) => `echo '== ${name}'\n${command}`)
    .join('\n');
}

/** Parsed output of the inspection script. */
class InspectionReport {
  /** Mount points with their options; of several mounts at one path, the topmost one. */
  readonly mounts: ReadonlyMap<string, readonly string[]>;
  readonly #sections: ReadonlyMap<string, string>;

  constructor(output: string) {
    const [, ...parts] = `\n${output}`.split('\n== ');
    this.#sections = new Map(parts.map((part) => cut(part, '\n')));
    this.mounts = new Map(
      rows(this.section('mounts')).map((row) => {
        const [, , , , path = '', options = ''] = row.split(' ');
        return [path, options.split(',')] as const;
      }),
    );
  }

  section(name: string): string {
    return (this.#sections.get(name) ?? '').trim();
  }

  /** Returns a field of /proc/self/status. */
  status(name: string): string {
    return rowOf(this.section('status'), name);
  }
}

const rows = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

/** Returns the text before and after the first `mark`. */
function cut(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

function rowOf(status: string, name: string): string {
  return (
    rows(status)
      .find((row) => row.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? ''
  );
}

const filesOf = ({mounts = []}: ContainerRequest): readonly MountRequest[] =>
  mounts.filter(({host_path: path = ''}) => path !== '');

function numberOf(path: string): string {
  const {dev, ino} = statSync(path, {bigint: true});
  return `${dev}:${ino}`;
}

const ownCapabilities = (): string => rowOf(readFileSync('/proc/self/status', 'utf8'), 'CapBnd');

function isConfined({linux: {security_context: security}}: ContainerRequest): boolean {
  const {privileged = false, seccomp} = security;
  return !privileged && seccomp !== undefined && seccomp.profile_type !== 'Unconfined';
}

/** Reports whether programs of this process have CAP_SYS_RESOURCE: without it, no file system that is mounted can be enlarged. */
export function hasSysResource(): boolean {
  const capabilities = rowOf(readFileSync('/proc/self/status', 'utf8'), 'CapEff');
  return (BigInt(`0x${capabilities}`) >> 24n) % 2n === 1n;
}

/** Returns the effective OOM score: without CAP_SYS_RESOURCE it cannot be lower than containerd's. */
function reachableOomScore(wanted: number): number {
  const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
  return hasSysResource() ? wanted : Math.max(wanted, own);
}

/** Returns the path of a process's cgroup in the first hierarchy, which contains all containers. */
function cgroupOf(pid: number): string {
  const [first = ''] = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
  return first.split(':').at(-1) ?? '';
}
