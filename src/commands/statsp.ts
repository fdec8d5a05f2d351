import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {podArgs} from '../cli/flags/positional-arguments.js';
import {statsFlags} from '../features/stats/stats-flags.js';
import {SANDBOX_STATS_ORDERS, sandboxStatsColumns} from '../features/stats/stats-table.js';
import {measureNodes} from '../features/stats/measure-nodes.js';
import {foundIds, KCRI_STATS, parseStatsFormat, showStats} from '../features/stats/show-stats.js';
import {parseLabels} from '../operations/filters/list-filters.js';
import {resolveSandboxes} from '../operations/resolve/resolve-names.js';
import {computeSandboxUsage} from '../operations/stats/compute-usage.js';
import {fetchSandboxStats} from '../operations/stats/fetch-stats.js';
import {withContext} from '../operations/with-context.js';

export default class Statsp extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Show resource usage of pods';
  static override description =
    'CPU usage is measured between two samples, as a percentage of one core. If the runtime has no ' +
    'stats for a pod, a warning is printed.';
  static override usage = 'statsp [POD...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> statsp',
    '<%= config.bin %> statsp -o wide --sort=mem',
    '<%= config.bin %> statsp team/web --watch',
  ];
  static override args = podArgs;
  static override flags = {
    ...nonEmptyFlags({
      id: Flags.string({helpValue: 'POD', description: 'Select only this pod, by ID or name.'}),
    }),
    ...FROM_FLAG,
    ...statsFlags(SANDBOX_STATS_ORDERS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Statsp);
    const {services} = this;
    const {requestedRefs, thorough} = await this.dialect.strategy('stats', KCRI_STATS);
    const form = await parseStatsFormat(services, flags);
    const refs = requestedRefs(args.pod ?? [], flags.id);
    const labels = parseLabels(flags.label, 'parse pod labels: ');
    const nodes = await measureNodes(services, sandboxStatsColumns, async (node) => {
      const {signal} = node;
      const {runtime} = await node.connections.default();
      const resolving = node.resolving({verify: true});
      const ids = foundIds(node, refs.length === 0 ? [] : await resolveSandboxes(runtime, refs, resolving));
      if (ids === undefined) return undefined;
      const measure = async () => await fetchSandboxStats(runtime, {ids, labels}, {signal, thorough});
      return async () => await withContext('list pod sandbox stats', measure());
    });
    if (nodes === undefined) return;
    const shown = showStats(services, flags, form, {
      ...nodes,
      usage: computeSandboxUsage,
      orders: SANDBOX_STATS_ORDERS,
      message: {name: 'ListPodSandboxStatsResponse', of: (stats) => ({stats})},
      idle: false,
    });
    await withContext('get pod stats', shown);
  }
}
