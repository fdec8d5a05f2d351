import type {Connection, Container} from '../../cri/index.js';
import {fetchContainerDetails} from '../../operations/inspect/fetch-details.js';
import {createContainerKind} from '../../operations/resolve/find-by-name.js';
import type {CommandServices} from '../command/command-services.js';
import {formatListTable} from '../flags/list-flags.js';
import {formatMessage} from '../output/parse-output-format.js';
import {containerBlock, containerColumns, containerDetailColumns} from '../output/views/container-table.js';
import type {ContainerList, PsFlags} from './collect-containers.js';

/** Prints a list of containers in its form. */
export async function printContainers(
  services: CommandServices,
  {form, rows, connection, tags}: ContainerList,
  flags: PsFlags,
): Promise<void> {
  const {context, out} = services;
  const containers = rows.map(({container}) => container);
  const nowMs = context.clock.now();
  if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
    out.printData(await formatMessage(form, 'ListContainersResponse', {containers}));
  else if (flags.quiet) out.printAll(containers, ({id}) => `${id}\n`);
  else if (flags.verbose) out.printAll(rows, (row) => containerBlock(row, nowMs));
  else if (form.kind === 'name')
    out.printAll(rows, ({container, pod}) => `${createContainerKind(() => pod).fullName(container)}\n`);
  else {
    const layout = {...flags, forTerminal: out.shouldEscapeControls};
    const shown = flags['resolve-image-path'] ? await tags() : undefined;
    const columns = containerColumns({nowMs, full: flags['no-trunc'], tags: shown});
    if (form.kind === 'table') out.printText(formatListTable(columns, rows, layout));
    else {
      const more = containerDetailColumns(await fetchDetails(services, connection, containers));
      out.printText(formatListTable([...columns, ...more], rows, {...layout, narrow: true}));
    }
  }
}

async function fetchDetails(
  {report, signal}: CommandServices,
  {runtime}: Connection,
  containers: readonly Container[],
) {
  const {byId, failure} = await fetchContainerDetails(runtime, containers, signal);
  if (failure !== undefined) report.warn(`some details are missing: ${failure.message}`);
  return byId;
}
