import type {Column} from '../../format/table.js';
import type {Usage} from '../../operations/stats/compute-usage.js';
import type {StatsResult} from '../../operations/stats/fetch-stats.js';
import type {
  CommandContext,
  ConnectionContext,
  ReportContext,
  ResolvingContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {NodeNames} from '../nodes/node-names.js';
import {queryNodes} from '../nodes/query-nodes.js';
import type {NodeOf} from '../../cli/output/parse-output-format.js';

type Measure<T> = () => Promise<StatsResult<T>>;

/** Stats of the objects of one or several nodes. */
export interface MeasuredNodes<T, Layout> {
  readonly measure: Measure<T>;
  readonly columns: (layout: Layout) => readonly Column<Usage<T>>[];
  readonly nodeOf: NodeOf;
}

/**
 * Prepares the measurement of one or several nodes; `prepare` returns how one of them is measured, undefined to measure
 * nothing there. A node of several that fails is reported, and not measured again. Returns undefined if no node is
 * measured.
 */
export async function measureNodes<T extends object, Layout>(
  services: CommandContext,
  columnsOf: (layout: Layout) => readonly Column<Usage<T>>[],
  prepare: (
    services: ConnectionContext & ReportContext & ResolvingContext & SignalContext,
  ) => Promise<Measure<T> | undefined>,
): Promise<MeasuredNodes<T, Layout> | undefined> {
  const names = new NodeNames();
  const prepared = await queryNodes(services, async (node) => {
    const measure = await prepare(node);
    return measure === undefined || node === services ? measure : await measureFirst(measure);
  });
  const measured = prepared.flatMap(({node, services: own, value}) =>
    value === undefined ? [] : [{node, services: own, next: value}],
  );
  if (measured.length === 0) return undefined;
  let live = measured;
  const measure = async (): Promise<StatsResult<T>> => {
    const samples = await Promise.all(
      live.map(async (each) => {
        try {
          return {each, result: await each.next()};
        } catch (error) {
          if (each.node === undefined || services.signal.aborted) throw error;
          const {nodeError} = await import('../nodes/query-all-nodes.js');
          services.report.fail(nodeError(each.node, each.services.connections.loss ?? error));
          return undefined;
        }
      }),
    );
    const found = samples.filter((sample) => sample !== undefined);
    live = found.map(({each}) => each);
    for (const {each, result} of found) names.add(each.node, result.stats);
    return {
      stats: found.flatMap(({result}) => result.stats),
      failures: found.flatMap(({result}) => result.failures),
    };
  };
  return {
    measure,
    columns: (layout) => [...names.columns(({stats}: Usage<T>) => stats), ...columnsOf(layout)],
    nodeOf: names.nodeOf,
  };
}

/** Measures at once, so that a node that fails is reported before anything is shown. Returns the results in order. */
async function measureFirst<T>(measure: Measure<T>): Promise<Measure<T>> {
  let first: StatsResult<T> | undefined = await measure();
  return async () => {
    const result = first ?? (await measure());
    first = undefined;
    return result;
  };
}
