import {isIP} from 'node:net';
import {UsageError} from '../../base/errors.js';
import type {Init, Mount, Device} from '../../cri/index.js';
import {parseCapability} from '../../operations/run/parse-capability.js';
import {parseMount} from '../../operations/run/parse-mount.js';
import {parsePairs} from '../../operations/run/parse-pairs.js';
import {parseSecurityOptions} from '../../operations/run/parse-security-option.js';
import type {IsolationFlags} from './isolation-flags.js';
import type {PreparedRun} from './run-in-pod.js';
import {isAbsolute} from 'node:path';

type Isolation = Pick<
  PreparedRun,
  | 'annotations'
  | 'devices'
  | 'dns'
  | 'sysctls'
  | 'supplementalGroups'
  | 'security'
  | 'hostPid'
  | 'hostIpc'
  | 'capAdd'
  | 'capDrop'
  | 'resources'
> & {readonly mounts: readonly Init<Mount>[]};

/** Parses the flags for namespaces, devices, privileges and limits. Throws UsageError. */
export function parseIsolation(flags: IsolationFlags, cwd: string): Isolation {
  return {
    mounts: (flags.mount ?? []).map((text) => parseMount(text, cwd)),
    devices: (flags.device ?? []).map(parseDevice),
    dns: parseDns(flags),
    sysctls: parsePairs('sysctl', flags.sysctl),
    annotations: parsePairs('annotation', flags.annotation),
    supplementalGroups: (flags['group-add'] ?? []).map(parseGroup),
    security: parseSecurityOptions(flags['security-opt'] ?? []),
    hostPid: isHost('pid', flags.pid),
    hostIpc: isHost('ipc', flags.ipc),
    capAdd: (flags['cap-add'] ?? []).map((name) => parseCapability(name, 'cap-add')),
    capDrop: (flags['cap-drop'] ?? []).map((name) => parseCapability(name, 'cap-drop')),
    resources: {
      memoryBytes: flags.memory,
      cpus: flags.cpus,
      cpuShares: flags['cpu-shares'],
      cpusetCpus: flags['cpuset-cpus'],
      cpusetMems: flags['cpuset-mems'],
      oomScoreAdj: flags['oom-score-adj'],
    },
  };
}

function parseDns({
  dns: servers = [],
  'dns-search': searches = [],
  'dns-option': options = [],
}: IsolationFlags): Isolation['dns'] {
  const invalid = servers.find((address) => isIP(address) === 0);
  if (invalid !== undefined) throw new UsageError(`invalid --dns "${invalid}": must be an IP address`);
  return servers.length + searches.length + options.length === 0 ? undefined : {servers, searches, options};
}

function parseGroup(text: string): bigint {
  if (/^\d{1,10}$/.test(text)) return BigInt(text);
  throw new UsageError(`invalid --group-add "${text}": must be a number`, {
    hint: 'CRI cannot look up the names of groups',
  });
}

function isHost(flag: string, value: string | undefined): boolean {
  if (value === undefined || value === 'host') return value === 'host';
  throw new UsageError(`invalid --${flag} "${value}": must be host`);
}

/** Parses `HOST[:CONTAINER][:PERMISSIONS]`, docker's `--device`; permissions are some of r, w and m. Throws UsageError. */
export function parseDevice(text: string): Init<Device> {
  const [hostPath = '', ...rest] = text.split(':');
  const permissions = /^[rwm]+$/.test(rest.at(-1) ?? '') ? rest.pop() : undefined;
  const [containerPath = hostPath, surplus] = rest;
  if (!isAbsolute(hostPath) || !isAbsolute(containerPath) || surplus !== undefined)
    throw new UsageError(`invalid --device "${text}": must be HOST[:CONTAINER][:rwm] with absolute paths`);
  return {hostPath, containerPath, permissions: permissions ?? 'rwm'};
}
