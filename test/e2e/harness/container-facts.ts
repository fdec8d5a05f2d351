import {existsSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import {hostname} from 'node:os';
import {containerId, podSandboxId, type ContainerId, type PodSandboxId} from '../../../src/cri/index.js';
import type {GoldenCall} from '../../golden/canonical/canonical-calls.js';
import type {PodTestbed} from './pod-testbed.js';
import {shellCommand} from './manifests.js';

/** What containerd gives to a container that asks for no capability. */
const DEFAULT_CAPABILITIES = '00000000a80425fb';

const NAMESPACES = {network: 'net', ipc: 'ipc', pid: 'pid'} as const;

/** The fields of a CreateContainer that a container can see, as they were sent. */
interface ContainerRequest {
  readonly metadata: {readonly name: string};
  readonly envs?: readonly {readonly key: string; readonly value?: string}[];
  readonly mounts?: readonly MountRequest[];
  readonly linux: {
    readonly resources: {
      readonly cpu_shares?: string;
      readonly cpu_quota?: string;
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
  /** None of an image's. */
  readonly host_path?: string;
  readonly readonly?: boolean;
}

/** The same of a RunPodSandbox. */
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

/** A container that was made by a case's calls. */
export interface CreatedContainer {
  readonly id: ContainerId;
  readonly name: string;
  readonly sandbox: PodSandboxId;
  readonly request: ContainerRequest;
  readonly pod: SandboxRequest;
}

/** The containers that the calls have made and that run. */
export async function listRunningContainers(
  {runtime: {connection}}: PodTestbed,
  calls: readonly GoldenCall[],
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

/** What is known of a container when it is looked at. */
interface Look extends CreatedContainer {
  readonly inside: Inside;
  /** Its own cgroup's path. */
  readonly cgroup: string;
  readonly sandboxPid: number;
  readonly sharesNetwork: boolean;
  readonly ip: string;
}

/** What a container asked for, and the same as it finds it. */
type Fact = (look: Look) => readonly [asked: unknown, found: unknown];

/** All that a container can see of how it was made. A file is the node's when it has its number. */
const FACTS: Readonly<Record<string, Fact>> = {
  user: ({request, inside}) => [
    request.linux.security_context.run_as_user?.value ?? '0',
    inside.status('Uid').split('\t')[0],
  ],
  capabilities: ({request, inside}) => [
    request.linux.security_context.privileged === true ? ownCapabilities() : DEFAULT_CAPABILITIES,
    inside.status('CapBnd'),
  ],
  newPrivileges: ({request, inside}) => [
    request.linux.security_context.no_new_privs === true ? '1' : '0',
    inside.status('NoNewPrivs'),
  ],
  seccomp: ({request, inside}) => [isConfined(request) ? '2' : '0', inside.status('Seccomp')],
  oomScore: ({request, inside}) => [
    reachableOomScore(Number(request.linux.resources.oom_score_adj ?? 0)),
    Number(inside.said('oom')),
  ],
  memory: ({request: {linux}, inside}) => {
    const {memory_limit_in_bytes: limit} = linux.resources;
    return [limit, limit && inside.said('memory')];
  },
  cpuQuota: ({request: {linux}, inside}) => {
    const {cpu_quota: quota} = linux.resources;
    return [quota, quota && inside.said('quota').split(' ')[0]];
  },
  // The second version of cgroups has weights, by a formula of the runtime's.
  cpuShares: ({request, inside}) => [
    inside.said('shares') && (request.linux.resources.cpu_shares ?? '2'),
    inside.said('shares'),
  ],
  cgroup: ({pod, id, cgroup}) => [`${pod.linux.cgroup_parent}/${id}`, cgroup],
  environment: ({request: {envs = []}, inside}) => {
    const own = new Map(rows(inside.said('environment')).map((row) => cut(row, '=')));
    return [
      Object.fromEntries(envs.map(({key, value = ''}) => [key, String(Buffer.from(value, 'base64'))])),
      Object.fromEntries(envs.map(({key}) => [key, own.get(key)])),
    ];
  },
  namespaces: ({request, inside, sandboxPid}) => {
    const {namespace_options: options = {}} = request.linux.security_context;
    const keys = Object.keys(NAMESPACES) as (keyof typeof NAMESPACES)[];
    const own = rows(inside.said('namespaces'));
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
  files: ({request, inside}) => {
    const files = filesOf(request);
    const found = rows(inside.said('files'));
    return [files.map(({container_path: path, host_path: file = ''}) => `${path} ${numberOf(file)}`), found];
  },
  readOnly: ({request: {mounts = []}, inside}) => [
    mounts.filter((mount) => mount.readonly).map(({container_path: path}) => path),
    mounts.map(({container_path: path}) => path).filter((path) => inside.mounts.get(path)?.includes('ro')),
  ],
  // A runtime covers nothing for who is privileged, whatever it is sent.
  protectedPaths: ({request, inside}) => {
    const {
      privileged,
      masked_paths: masked = [],
      readonly_paths: readOnly = [],
    } = request.linux.security_context;
    const asked = privileged === true ? [] : [...masked, ...readOnly];
    const covered = [...inside.mounts.keys()].filter((path) =>
      /^\/(?:proc\/|sys\/firmware|sys\/devices\/)/.test(path),
    );
    return [asked.filter((path) => existsSync(path)).toSorted(), covered.toSorted()];
  },
  hostname: ({pod, inside, sharesNetwork}) => [
    sharesNetwork ? hostname() : pod.hostname,
    inside.said('hostname'),
  ],
  ownAddress: ({pod, inside, ip, sharesNetwork}) => {
    const own = rows(inside.said('hosts')).filter((row) => row.startsWith(`${ip}\t`));
    return [
      sharesNetwork ? [] : [pod.hostname],
      sharesNetwork ? [] : own.map((row) => row.split('\t').at(-1)),
    ];
  },
  resolver: ({pod: {dns_config: {servers = [], searches = [], options = []} = {}}, inside}) => {
    const found = rows(inside.said('resolver')).map((row) => cut(row, ' '));
    const values = (key: string): readonly string[] =>
      found.filter(([name]) => name === key).flatMap(([, value]) => value.split(' '));
    return [
      {servers, searches, options: options.toSorted()},
      {servers: values('nameserver'), searches: values('search'), options: values('options').toSorted()},
    ];
  },
  sysctls: ({pod: {linux}, inside}) => {
    const asked = Object.entries(linux.sysctls ?? {});
    return [
      asked.map(([, value]) => value),
      rows(inside.said('sysctls')).map((row) => row.replaceAll('\t', ' ')),
    ];
  },
};

/** What the container asked for and what it finds, by fact, as two objects to compare; one exec. */
export async function compareContainerFacts(
  ground: PodTestbed,
  made: CreatedContainer,
): Promise<Readonly<Record<'asked' | 'found', object>>> {
  const {sandbox, request} = made;
  const {status} = await ground.runtime.connection.runtime.podSandboxStatus({podSandboxId: sandbox});
  const look: Look = {
    ...made,
    inside: new Inside(await ground.exec(made.id, ...shellCommand(question(made)))),
    cgroup: cgroupOf(await ground.pidOf(made.id)),
    sandboxPid: await ground.sandboxPidOf(sandbox),
    sharesNetwork: request.linux.security_context.namespace_options?.network === 'NODE',
    ip: status?.network?.ip ?? '',
  };
  const facts = Object.entries(FACTS).map(([name, fact]) => [name, fact(look)] as const);
  return {
    asked: Object.fromEntries(facts.map(([name, [asked]]) => [name, asked])),
    found: Object.fromEntries(facts.map(([name, [, found]]) => [name, found])),
  };
}

/** A shell script that tells all; `first` prints the first of these files that there is. */
function question({request, pod}: CreatedContainer): string {
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

/** What a container has told. */
class Inside {
  /** Its mount points with their options; of mounts on one another the topmost. */
  readonly mounts: ReadonlyMap<string, readonly string[]>;
  readonly #sections: ReadonlyMap<string, string>;

  constructor(told: string) {
    const [, ...parts] = `\n${told}`.split('\n== ');
    this.#sections = new Map(parts.map((part) => cut(part, '\n')));
    this.mounts = new Map(
      rows(this.said('mounts')).map((row) => {
        const [, , , , path = '', options = ''] = row.split(' ');
        return [path, options.split(',')] as const;
      }),
    );
  }

  said(section: string): string {
    return (this.#sections.get(section) ?? '').trim();
  }

  /** A row of /proc/self/status. */
  status(name: string): string {
    return rowOf(this.said('status'), name);
  }
}

const rows = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

/** What stands before and after the first `mark`. */
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

/** Nobody can have a lower score than containerd where the capability for it is missing. */
function reachableOomScore(wanted: number): number {
  const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
  const mayLower =
    (BigInt(`0x${rowOf(readFileSync('/proc/self/status', 'utf8'), 'CapEff')}`) >> 24n) % 2n === 1n;
  return mayLower ? wanted : Math.max(wanted, own);
}

/** The path in the first hierarchy, which has all containers. */
function cgroupOf(pid: number): string {
  const [first = ''] = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
  return first.split(':').at(-1) ?? '';
}
