import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import {int64Flag} from '../cli/flags/flag-types.js';
import {containerArgs, requireArguments} from '../cli/flags/positional-arguments.js';
import {cpusFlag, memoryFlag, oomScoreFlag} from '../features/containers/resource-flags.js';
import {ArgumentsError, ConflictError} from '../cli/parsing/usage-errors.js';
import {buildResourceUpdate} from '../operations/containers/update-resources.js';
import {resolveContainers} from '../operations/resolve/resolve-names.js';
import {withRequiredId} from '../operations/with-required-id.js';

export default class Update extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Update the resource limits of running containers';
  static override description =
    'Limits that are not specified do not change. A kubelet that manages the container may restore its ' +
    'own limits.';
  static override usage = 'update CONTAINER... [FLAGS]';
  static override examples = [
    '<%= config.bin %> update --memory=512Mi team/web/main',
    '<%= config.bin %> update --cpus=1.5 --cpu-share=512 4f2a1c',
    '<%= config.bin %> update --cpuset-cpus=0-1 --oom-score-adj=500 main sidecar',
  ];
  static override args = containerArgs;
  static override flags = {
    cpus: cpusFlag({helpValue: 'N', description: 'CPU limit in cores, such as 0.5.'}),
    'cpu-period': int64Flag({helpValue: 'MICROSECONDS', description: 'CPU CFS period.'}),
    'cpu-quota': int64Flag({
      helpValue: 'MICROSECONDS',
      description: 'CPU time per period; -1 for no limit.',
    }),
    'cpu-share': int64Flag({
      helpValue: 'N',
      description: 'CPU weight relative to other containers; 1024 for one CPU.',
    }),
    memory: memoryFlag({
      helpValue: 'SIZE',
      description: 'Memory limit in bytes or with a unit, such as 512Mi, 1g or 200MB.',
    }),
    'cpuset-cpus': Flags.string({
      helpValue: 'LIST',
      description: 'CPUs that the container can use, such as 0-2,7.',
    }),
    'cpuset-mems': Flags.string({helpValue: 'LIST', description: 'Memory nodes that the container can use.'}),
    'oom-score-adj': oomScoreFlag({
      helpValue: 'N',
      description: 'OOM score adjustment, from -1000 to 1000.',
    }),
    'cpu-count': int64Flag({hidden: true, description: 'For Windows nodes.'}),
    'cpu-maximum': int64Flag({hidden: true, description: 'For Windows nodes.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Update);
    const refs = requireArguments(args.container, 'container');
    this.dialect.checkUsage(() => {
      checkFlags(flags);
    });
    const linux = buildResourceUpdate({
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
    const {services, signal} = this;
    const targets = await resolveContainers(runtime, refs, services.resolving({images}));
    await forEachTarget(services, targets, async (containerId, ref) => {
      await withRequiredId(
        `updating container resources for "${ref}"`,
        containerId,
        async () => await runtime.updateContainerResources({containerId, linux}, {signal}),
      );
      this.out.print(ref);
    });
  }
}

/** Throws UsageError for flags with which crictl would change nothing and report success. */
function checkFlags(flags: Readonly<Record<string, unknown>>): void {
  const windows = ['cpu-count', 'cpu-maximum'].find((name) => flags[name] !== undefined);
  if (windows !== undefined)
    throw new ConflictError(`--${windows} is only for Windows nodes`, {hint: 'use --cpus'});
  if (Object.keys(flags).every((name) => flags[name] === undefined || !Object.hasOwn(Update.flags, name)))
    throw new ArgumentsError('nothing to update', {hint: 'set a limit, such as --memory 512Mi'});
}
