import * as Flags from '@oclif/core/flags';
import {podArgs} from '../cli/arguments.js';
import {StatsCommand, statsFlags} from '../cli/stats-command.js';
import {SANDBOX_STATS_ORDERS, sandboxStatsColumns} from '../cli/views/stats.js';
import {parseLabels} from '../operations/filters.js';
import {resolveSandboxes} from '../operations/resolve.js';
import {measureSandboxes} from '../operations/stats.js';
import {sandboxUsage} from '../operations/usage.js';
import {withContext} from '../operations/with-context.js';

export default class Statsp extends StatsCommand {
  static override summary = 'Show what pods use of CPU and memory';
  static override description =
    'As "stats", for whole pods. A pod whose stats the runtime can\'t give is named in a warning, and the others ' +
    'are shown.';
  static override usage = 'statsp [POD...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> statsp',
    '<%= config.bin %> statsp -o wide --sort mem',
    '<%= config.bin %> statsp team/web --watch',
  ];
  static override args = podArgs;
  static override flags = {
    id: Flags.string({description: 'Only this pod, by id or name.'}),
    ...statsFlags(SANDBOX_STATS_ORDERS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Statsp);
    const form = await this.statsForm(flags);
    const refs = this.refsOf(args.pod ?? [], flags.id);
    const labels = parseLabels(flags.label);
    const {runtime} = await this.cri();
    const {signal, compat} = this;
    const ids = this.idsOf(
      refs.length === 0 ? [] : await resolveSandboxes(runtime, refs, {signal, verify: true, literal: compat}),
    );
    if (ids === undefined) return;
    const measure = async () =>
      await withContext(
        'list pod sandbox stats',
        measureSandboxes(runtime, {ids, labels}, {signal, thorough: !compat}),
      );
    await withContext(
      'get pod stats',
      this.showStats(flags, form, {
        measure,
        usage: sandboxUsage,
        columns: sandboxStatsColumns,
        orders: SANDBOX_STATS_ORDERS,
        message: {name: 'ListPodSandboxStatsResponse', of: (stats) => ({stats})},
        idle: false,
      }),
    );
  }
}
