import * as Flags from '@oclif/core/flags';
import {atLeastOne, containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {integerFlag} from '../cli/flags.js';
import type {ParseContext} from '../cli/parse.js';
import {ArgumentsError, ConflictError} from '../cli/usage-errors.js';
import {parseBytes} from '../format/bytes.js';
import {resolveContainers} from '../operations/resolve.js';
import {changedResources} from '../operations/update.js';
import {withContext} from '../operations/with-context.js';

const isCompat = (context: unknown): boolean => (context as ParseContext).compat;

/** crictl's takes bytes only. */
const memoryFlag = Flags.custom<bigint>({
  parse: async (text, context) => {
    if (isCompat(context) && !/^[+-]?\d+$/.test(text)) throw new Error('parse error');
    return parseBytes(text);
  },
});

/** crictl takes anything, and what is no number for 0. */
const oomScoreFlag = Flags.custom<number>({
  parse: async (text, context) => {
    const score = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
    if (isCompat(context)) return score ?? 0;
    if (score === undefined || Math.abs(score) > 1000)
      throw new Error('not a whole number from -1000 to 1000');
    return score;
  },
});

const cpusFlag = Flags.custom<number>({
  parse: async (text) => {
    if (!/^\d+(\.\d+)?$/.test(text) || Number(text) < 0.01)
      throw new Error('not a number of CPUs such as 0.5 or 2');
    return Number(text);
  },
});

export default class Update extends BaseCommand {
  static override summary = 'Change the limits of running containers';
  static override description =
    'Limits that are not named stay as they are. A kubelet that watches over the container may set its own again.';
  static override usage = 'update CONTAINER... [OPTIONS]';
  static override examples = [
    '<%= config.bin %> update --memory 512Mi team/web/main',
    '<%= config.bin %> update --cpus 1.5 --cpu-share 512 4f2a1c',
    '<%= config.bin %> update --cpuset-cpus 0-1 --oom-score-adj 500 main sidecar',
  ];
  static override args = containerArgs;
  static override flags = {
    cpus: cpusFlag({helpValue: 'N', description: 'How many CPUs may be used, such as 0.5.'}),
    'cpu-period': integerFlag({helpValue: 'MICROSECONDS', description: 'The period of the CPU limit.'}),
    'cpu-quota': integerFlag({
      helpValue: 'MICROSECONDS',
      description: 'The CPU time that may be used in each period; -1 for no limit.',
    }),
    'cpu-share': integerFlag({
      helpValue: 'N',
      description: 'The weight among other containers; 1024 for a CPU.',
    }),
    memory: memoryFlag({
      helpValue: 'SIZE',
      description: 'The most memory that may be used: bytes, or with a unit such as 512Mi, 1g or 200MB.',
    }),
    'cpuset-cpus': Flags.string({
      helpValue: 'LIST',
      description: 'The CPUs that may be used, such as 0-2,7.',
    }),
    'cpuset-mems': Flags.string({helpValue: 'LIST', description: 'The memory nodes that may be used.'}),
    'oom-score-adj': oomScoreFlag({
      helpValue: 'N',
      description: 'From -1000 to 1000; the larger, the sooner it is killed when memory runs out.',
    }),
    'cpu-count': integerFlag({hidden: true, description: 'For nodes with Windows.'}),
    'cpu-maximum': integerFlag({hidden: true, description: 'For nodes with Windows.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Update);
    const refs = atLeastOne(args.container);
    const {compat, signal} = this;
    if (!compat) checkFlags(flags);
    const linux = changedResources({
      cpus: flags.cpus,
      cpuPeriod: flags['cpu-period'],
      cpuQuota: flags['cpu-quota'],
      cpuShares: flags['cpu-share'],
      cpusetCpus: flags['cpuset-cpus'],
      cpusetMems: flags['cpuset-mems'],
      memoryBytes: flags.memory,
      oomScoreAdj: flags['oom-score-adj'],
    });
    const {runtime, images} = await this.cri();
    const targets = await resolveContainers(runtime, refs, {signal, images, literal: compat});
    await this.forEachTarget(targets, async (containerId, ref) => {
      const updated = runtime.updateContainerResources({containerId, linux}, {signal});
      await withContext(`updating container resources for "${ref}"`, updated);
      this.print(ref);
    });
  }
}

/** Throws UsageError where crictl would do nothing and say that it was done. */
function checkFlags(flags: Readonly<Record<string, unknown>>): void {
  const windows = ['cpu-count', 'cpu-maximum'].find((name) => flags[name] !== undefined);
  if (windows !== undefined)
    throw new ConflictError(`--${windows} is for nodes with Windows`, {hint: 'use --cpus'});
  if (Object.keys(flags).every((name) => flags[name] === undefined || !Object.hasOwn(Update.flags, name)))
    throw new ArgumentsError('nothing to update', {hint: 'name a limit, such as --memory 512Mi'});
}
