import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {containerArgs} from '../cli/flags/positional-arguments.js';
import {statsFlags} from '../features/stats/stats-flags.js';
import {CONTAINER_STATS_ORDERS, containerStatsColumns} from '../features/stats/stats-table.js';
import {measureNodes} from '../features/stats/measure-nodes.js';
import {foundIds, KCRI_STATS, parseStatsFormat, showStats} from '../features/stats/show-stats.js';
import {parseLabels} from '../operations/filters/list-filters.js';
import {resolveContainers, resolveSandbox} from '../operations/resolve/resolve-names.js';
import {computeContainerUsage} from '../operations/stats/compute-usage.js';
import {fetchContainerStats} from '../operations/stats/fetch-stats.js';
import {PodNamesOfStats} from '../operations/stats/pod-names.js';
import {withContext} from '../operations/with-context.js';

export default class Stats extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Show resource usage of containers';
  static override description =
    'CPU usage is measured between two samples, as a percentage of one core. With --watch, a terminal ' +
    'shows a table that refreshes in place; otherwise each sample is printed as a table, or as one ' +
    'line with -o json.';
  static override usage = 'stats [CONTAINER...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> stats --watch --sort=cpu',
    '<%= config.bin %> stats team/web/main -s 5',
    "<%= config.bin %> stats -w -o json | jq '.stats[].memory.workingSetBytes.value'",
  ];
  static override args = containerArgs;
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'Include containers without usage.'}),
    ...nonEmptyFlags({
      id: Flags.string({helpValue: 'CONTAINER', description: 'Select only this container, by ID or name.'}),
      pod: Flags.string({
        char: 'p',
        helpValue: 'POD',
        description: 'Select only containers of this pod, by ID or name.',
      }),
    }),
    ...FROM_FLAG,
    ...statsFlags(CONTAINER_STATS_ORDERS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Stats);
    const {services} = this;
    const {requestedRefs, thorough, showsPods} = await this.dialect.strategy('stats', KCRI_STATS);
    const form = await parseStatsFormat(services, flags);
    const refs = requestedRefs(args.container ?? [], flags.id);
    const labels = parseLabels(flags.label);
    const isTable = form.kind === 'table' || form.kind === 'wide';
    const nodes = await measureNodes(services, containerStatsColumns, async (node) => {
      const {signal} = node;
      const {runtime, images} = await node.connections.default();
      const resolving = node.resolving({images, verify: true});
      const ids = foundIds(node, refs.length === 0 ? [] : await resolveContainers(runtime, refs, resolving));
      if (ids === undefined) return undefined;
      const podSandboxId =
        flags.pod === undefined ? undefined : await resolveSandbox(runtime, flags.pod, node.resolving({}));
      const names = showsPods && isTable ? new PodNamesOfStats() : undefined;
      return async () => {
        const query = {ids, podSandboxId, labels};
        const measured = await fetchContainerStats(runtime, query, {signal, thorough});
        await names?.load(runtime, measured.stats, signal);
        return names === undefined
          ? measured
          : {...measured, stats: measured.stats.map((stats) => names.label(stats))};
      };
    });
    if (nodes === undefined) return;
    const shown = showStats(services, flags, form, {
      ...nodes,
      usage: computeContainerUsage,
      orders: CONTAINER_STATS_ORDERS,
      message: {name: 'ListContainerStatsResponse', of: (stats) => ({stats})},
      idle: flags.all,
    });
    await withContext('get container stats', shown);
  }
}
