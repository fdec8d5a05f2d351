import * as Flags from '@oclif/core/flags';
import {int64Flag, listFlag, nonEmptyFlags, withChoices} from '../../cli/flags/flag-types.js';
import {cpusFlag, memoryFlag, oomScoreFlag} from '../containers/resource-flags.js';

const repeated = (helpValue: string, description: string) =>
  Flags.string({multiple: true, helpValue, description: `${description} Can be repeated.`});

const hostOnly = (what: string) =>
  withChoices(Flags.string({helpValue: 'MODE', description: `Share the ${what} namespace of the node.`}), [
    'host',
  ]);

/** Flags of `run` for the namespaces, devices, privileges and limits of a container, with docker's names. */
export const ISOLATION_FLAGS = {
  ...nonEmptyFlags({
    mount: repeated('SPEC', 'Mount of the host: type=bind,source=HOST,target=CONTAINER[,readonly].'),
    device: repeated('HOST[:CONTAINER][:rwm]', 'Add a device of the host.'),
    dns: repeated('ADDRESS', 'Name server.'),
    'dns-search': repeated('DOMAIN', 'Search domain.'),
    'dns-option': repeated('OPTION', 'Option of the resolver, such as ndots:2.'),
    'group-add': repeated('GID', 'Add a supplemental group.'),
    sysctl: repeated('NAME=VALUE', 'Kernel parameter of the pod, such as net.core.somaxconn=1024.'),
    'security-opt': repeated(
      'OPTION',
      'Security option: no-new-privileges, seccomp=unconfined or FILE, apparmor=unconfined or PROFILE.',
    ),
    annotation: repeated('KEY=VALUE', 'Annotation of the pod and the container.'),
    pid: hostOnly('process'),
    ipc: hostOnly('IPC'),
    'cpuset-cpus': Flags.string({helpValue: 'LIST', description: 'CPUs on which it may run, such as 0-2,4.'}),
    'cpuset-mems': Flags.string({
      helpValue: 'LIST',
      description: 'Memory nodes that it may use, such as 0,1.',
    }),
  }),
  'cap-add': listFlag({helpValue: 'NAME', description: 'Add a Linux capability, or ALL. Can be repeated.'}),
  'cap-drop': listFlag({helpValue: 'NAME', description: 'Drop a Linux capability, or ALL. Can be repeated.'}),
  memory: memoryFlag({
    char: 'm',
    helpValue: 'SIZE',
    description: 'Memory limit in bytes or with a unit, such as 512Mi, 1g or 200MB.',
  }),
  cpus: cpusFlag({helpValue: 'N', description: 'CPU limit in cores, such as 0.5.'}),
  'cpu-shares': int64Flag({helpValue: 'N', description: 'CPU weight relative to other containers.'}),
  'oom-score-adj': oomScoreFlag({helpValue: 'N', description: 'OOM score adjustment, from -1000 to 1000.'}),
};

/** Values of those flags. */
export interface IsolationFlags {
  readonly mount?: readonly string[] | undefined;
  readonly device?: readonly string[] | undefined;
  readonly dns?: readonly string[] | undefined;
  readonly 'dns-search'?: readonly string[] | undefined;
  readonly 'dns-option'?: readonly string[] | undefined;
  readonly 'group-add'?: readonly string[] | undefined;
  readonly sysctl?: readonly string[] | undefined;
  readonly 'security-opt'?: readonly string[] | undefined;
  readonly annotation?: readonly string[] | undefined;
  readonly pid?: string | undefined;
  readonly ipc?: string | undefined;
  readonly 'cpuset-cpus'?: string | undefined;
  readonly 'cpuset-mems'?: string | undefined;
  readonly 'cap-add'?: readonly string[] | undefined;
  readonly 'cap-drop'?: readonly string[] | undefined;
  readonly memory?: bigint | undefined;
  readonly cpus?: number | undefined;
  readonly 'cpu-shares'?: bigint | undefined;
  readonly 'oom-score-adj'?: bigint | undefined;
}
