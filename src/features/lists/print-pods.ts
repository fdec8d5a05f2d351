import type {PodSandbox} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {fetchSandboxDetails} from '../../operations/inspect/fetch-details.js';
import {SANDBOX_KIND} from '../../operations/resolve/find-by-name.js';
import {withContext} from '../../operations/with-context.js';
import type {EnvironmentContext, OutputContext} from '../../cli/command/contexts.js';
import {createSorter, formatListTable} from './list-flags.js';
import {mergeRows} from './merge-results.js';
import {NodeNames} from '../nodes/node-names.js';
import type {NodeResult} from '../nodes/node-result.js';
import {formatMessage} from '../../cli/output/parse-output-format.js';
import {
  podContainers,
  SANDBOX_ORDERS,
  sandboxBlock,
  sandboxColumns,
  sandboxDetailColumns,
} from './sandbox-table.js';
import type {PodList, PodsFlags} from './collect-pods.js';

/** Prints the sandboxes of one or several nodes in their form. Returns the number of sandboxes. */
export async function printPods(
  services: EnvironmentContext & OutputContext,
  results: readonly NodeResult<PodList>[],
  flags: PodsFlags,
): Promise<number> {
  const items = mergeRows(results, (list) => list.items, createSorter(flags, SANDBOX_ORDERS), flags);
  const [first] = results;
  if (first !== undefined) await printItems(services, {...first.value, items}, {results, flags});
  return items.length;
}

async function printItems(
  services: EnvironmentContext & OutputContext,
  {form, items}: PodList,
  {results, flags}: {readonly results: readonly NodeResult<PodList>[]; readonly flags: PodsFlags},
): Promise<void> {
  const {context, out} = services;
  const nodes = NodeNames.of(results, (list) => list.items);
  if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
    out.printData(await formatMessage(form, 'ListPodSandboxResponse', {items}, nodes.nodeOf));
  else if (flags.quiet) out.printAll(items, ({id}) => `${id}\n`);
  else if (flags.verbose) out.printAll(items, sandboxBlock);
  else if (form.kind === 'name') out.printAll(items, (item) => `${SANDBOX_KIND.fullName(item)}\n`);
  else {
    const layout = {...flags, forTerminal: out.shouldEscapeControls};
    const columns = [
      ...nodes.columns((item: PodSandbox) => item),
      ...sandboxColumns(context.clock.now(), flags['no-trunc']),
    ];
    if (form.kind === 'table') out.printText(formatListTable(columns, items, layout));
    else {
      const more = await detailColumns(results);
      out.printText(formatListTable([...columns, ...more], items, {...layout, narrow: true}));
    }
  }
}

async function detailColumns(results: readonly NodeResult<PodList>[]) {
  const details = await Promise.all(results.map(fetchDetails));
  const byId = new Map(details.flatMap((each) => [...each.byId]));
  return sandboxDetailColumns(byId, podContainers(details.flatMap(({containers}) => containers)));
}

async function fetchDetails({services, value}: NodeResult<PodList>) {
  const {connections, report, signal} = services;
  const {runtime} = await connections.default();
  const [{byId, failure}, containers] = await Promise.all([
    fetchSandboxDetails(runtime, value.items, signal),
    withContext('listing containers', listAllContainers(runtime, {}, signal)),
  ]);
  if (failure !== undefined) report.warn(`some details are missing: ${failure.message}`);
  return {byId, containers};
}
