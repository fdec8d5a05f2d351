import {fetchContainerDetails} from '../../operations/inspect/fetch-details.js';
import {createContainerKind} from '../../operations/resolve/find-by-name.js';
import type {EnvironmentContext, OutputContext} from '../../cli/command/contexts.js';
import {createSorter, formatListTable} from './list-flags.js';
import {mergeMaps, mergeRows} from './merge-results.js';
import {NodeNames} from '../nodes/node-names.js';
import type {NodeResult} from '../nodes/node-result.js';
import {formatMessage} from '../../cli/output/parse-output-format.js';
import {
  CONTAINER_ORDERS,
  containerBlock,
  containerColumns,
  containerDetailColumns,
  type ContainerRow,
} from './container-table.js';
import type {ContainerList, PsFlags} from './collect-containers.js';

/** Prints the containers of one or several nodes in their form. Returns the number of containers. */
export async function printContainers(
  services: EnvironmentContext & OutputContext,
  results: readonly NodeResult<ContainerList>[],
  flags: PsFlags,
): Promise<number> {
  const rows = mergeRows(results, ({rows}) => rows, createSorter(flags, CONTAINER_ORDERS), flags);
  const [first] = results;
  if (first !== undefined) await printRows(services, {...first.value, rows}, {results, flags});
  return rows.length;
}

async function printRows(
  services: EnvironmentContext & OutputContext,
  {form, rows}: ContainerList,
  {results, flags}: {readonly results: readonly NodeResult<ContainerList>[]; readonly flags: PsFlags},
): Promise<void> {
  const {context, out} = services;
  const nodes = NodeNames.of(results, (list) => list.rows.map(({container}) => container));
  const containers = rows.map(({container}) => container);
  const nowMs = context.clock.now();
  if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
    out.printData(await formatMessage(form, 'ListContainersResponse', {containers}, nodes.nodeOf));
  else if (flags.quiet) out.printAll(containers, ({id}) => `${id}\n`);
  else if (flags.verbose) out.printAll(rows, (row) => containerBlock(row, nowMs));
  else if (form.kind === 'name')
    out.printAll(rows, ({container, pod}) => `${createContainerKind(() => pod).fullName(container)}\n`);
  else {
    const layout = {...flags, forTerminal: out.shouldEscapeControls};
    const tags = flags['resolve-image-path']
      ? await mergeMaps(results, async ({value}) => await value.tags())
      : undefined;
    const columns = [
      ...nodes.columns(({container}: ContainerRow) => container),
      ...containerColumns({nowMs, full: flags['no-trunc'], tags}),
    ];
    if (form.kind === 'table') out.printText(formatListTable(columns, rows, layout));
    else {
      const more = containerDetailColumns(await mergeMaps(results, fetchDetails));
      out.printText(formatListTable([...columns, ...more], rows, {...layout, narrow: true}));
    }
  }
}

async function fetchDetails({services: {report, signal}, value}: NodeResult<ContainerList>) {
  const containers = value.rows.map(({container}) => container);
  const {byId, failure} = await fetchContainerDetails(value.connection.runtime, containers, signal);
  if (failure !== undefined) report.warn(`some details are missing: ${failure.message}`);
  return byId;
}
