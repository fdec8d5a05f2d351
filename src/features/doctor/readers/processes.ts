import {basename} from 'node:path';
import {SystemError} from '../../../base/errors.js';
import {valueOf} from '../fact.js';
import type {KubeletProcess, ProcessTable} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Programs that set the clock. */
const TIME_KEEPERS: ReadonlySet<string> = new Set([
  'chronyd',
  'ntpd',
  'systemd-timesyn',
  'openntpd',
  'ptp4l',
  'phc2sys',
]);

/** Programs that manage the firewall, and drop packets of pods unless they know them. */
const FIREWALLS: ReadonlySet<string> = new Set(['firewalld']);

/** Processes that matter, with the command lines of kubelets. */
export interface FoundProcesses extends ProcessTable {
  readonly kubelets: readonly KubeletProcess[];
}

/** Size of what is read of a process; its name is at the beginning. */
const MAX_STAT_BYTES = 1024;

interface Process {
  readonly pid: number;
  /** Name of the program, cut to 15 bytes. */
  readonly name: string;
}

/** Reads the processes of the node. Rejects with SystemError without /proc. */
export async function readProcesses(node: FileReader): Promise<FoundProcesses> {
  const names = await node.names('/proc');
  if ('error' in names) throw new SystemError(names.error);
  const pids = names.value.filter((name) => /^\d+$/.test(name)).map(Number);
  const processes = (await Promise.all(pids.map(async (pid) => await readProcess(pid, node)))).flat();
  const argvOf = async ({pid}: Process): Promise<KubeletProcess> => {
    const text = await node.text(`/proc/${pid}/cmdline`);
    return {pid, argv: 'value' in text ? text.value.split('\0').slice(0, -1) : []};
  };
  const named = (test: (name: string) => boolean): readonly Process[] =>
    processes.filter(({name}) => test(name));
  const [kubelets, shims] = await Promise.all([
    Promise.all(named((name) => name === 'kubelet').map(argvOf)),
    Promise.all(named((name) => name.startsWith('containerd-shim')).map(argvOf)),
  ]);
  const namesIn = (set: ReadonlySet<string>): readonly string[] => [
    ...new Set(named((name) => set.has(name)).map(({name}) => name)),
  ];
  return {
    timeKeepers: namesIn(TIME_KEEPERS),
    firewalls: namesIn(FIREWALLS),
    shims: shims.flatMap(({pid, argv}) => {
      const flag = (name: string): string => argv[argv.indexOf(name) + 1] ?? '';
      return argv.includes('-id')
        ? [{pid, namespace: flag('-namespace'), id: flag('-id'), address: flag('-address')}]
        : [];
    }),
    kubelets: kubelets.filter(({argv: [program = '']}) => basename(program) === 'kubelet'),
  };
}

/** Reads a file that needs no lock of the process: the command line of a process that hangs can block the reader. */
async function readProcess(pid: number, node: FileReader): Promise<readonly Process[]> {
  const text = await node.text(`/proc/${pid}/stat`, MAX_STAT_BYTES);
  // Without one, it has ended.
  const [, name] = /^\d+ \((.*)\) \S/s.exec(valueOf(text) ?? '') ?? [];
  return name === undefined ? [] : [{pid, name}];
}
