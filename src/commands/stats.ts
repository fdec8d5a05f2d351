import * as Flags from '@oclif/core/flags';
import {containerArgs} from '../cli/arguments.js';
import {StatsCommand, statsFlags} from '../cli/stats-command.js';
import {CONTAINER_STATS_ORDERS, containerStatsColumns} from '../cli/views/stats.js';
import {parseLabels} from '../operations/filters.js';
import {resolveContainers, resolveSandbox} from '../operations/resolve.js';
import {measureContainers} from '../operations/stats.js';
import {containerUsage} from '../operations/usage.js';
import {withContext} from '../operations/with-context.js';

export default class Stats extends StatsCommand {
  static override summary = 'Show what containers use of CPU, memory and disk';
  static override description =
    'The CPU is measured between two samples and given in per cent of one core. With --watch the table is drawn ' +
    'over in place on a terminal; into a pipe, one table follows the other, or with -o json one line.';
  static override usage = 'stats [CONTAINER...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> stats',
    '<%= config.bin %> stats --watch --sort cpu',
    '<%= config.bin %> stats team/web/main -s 5',
    "<%= config.bin %> stats -w -o json | jq '.stats[].memory.workingSetBytes.value'",
  ];
  static override args = containerArgs;
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'Show containers that use nothing as well.'}),
    id: Flags.string({description: 'Only this container, by id or name.'}),
    pod: Flags.string({char: 'p', description: 'Only containers of a pod, by id or name.'}),
    ...statsFlags(CONTAINER_STATS_ORDERS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Stats);
    const form = await this.statsForm(flags);
    const refs = this.refsOf(args.container ?? [], flags.id);
    const labels = parseLabels(flags.label);
    const {runtime, images} = await this.cri();
    const {signal, compat} = this;
    const ids = this.idsOf(
      refs.length === 0
        ? []
        : await resolveContainers(runtime, refs, {signal, images, verify: true, literal: compat}),
    );
    if (ids === undefined) return;
    const podSandboxId =
      flags.pod === undefined
        ? undefined
        : await resolveSandbox(runtime, flags.pod, {signal, literal: compat});
    const query = {ids, podSandboxId, labels};
    await withContext(
      'get container stats',
      this.showStats(flags, form, {
        measure: async () => await measureContainers(runtime, query, {signal, thorough: !compat}),
        usage: containerUsage,
        columns: containerStatsColumns,
        orders: CONTAINER_STATS_ORDERS,
        message: {name: 'ListContainerStatsResponse', of: (stats) => ({stats})},
        idle: flags.all,
      }),
    );
  }
}
