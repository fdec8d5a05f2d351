import type {PodSandbox} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {fetchSandboxDetails} from '../../operations/inspect/fetch-details.js';
import {SANDBOX_KIND} from '../../operations/resolve/find-by-name.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandServices} from '../command/command-services.js';
import {formatListTable} from '../flags/list-flags.js';
import {formatMessage} from '../output/parse-output-format.js';
import {
  podContainers,
  sandboxBlock,
  sandboxColumns,
  sandboxDetailColumns,
} from '../output/views/sandbox-table.js';
import type {PodList, PodsFlags} from './collect-pods.js';

/** Prints a list of sandboxes in its form. */
export async function printPods(
  services: CommandServices,
  {form, items}: PodList,
  flags: PodsFlags,
): Promise<void> {
  const {context, out} = services;
  if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
    out.printData(await formatMessage(form, 'ListPodSandboxResponse', {items}));
  else if (flags.quiet) out.printAll(items, ({id}) => `${id}\n`);
  else if (flags.verbose) out.printAll(items, sandboxBlock);
  else if (form.kind === 'name') out.printAll(items, (item) => `${SANDBOX_KIND.fullName(item)}\n`);
  else {
    const layout = {...flags, forTerminal: out.shouldEscapeControls};
    const columns = sandboxColumns(context.clock.now(), flags['no-trunc']);
    if (form.kind === 'table') out.printText(formatListTable(columns, items, layout));
    else {
      const more = await detailColumns(services, items);
      out.printText(formatListTable([...columns, ...more], items, {...layout, narrow: true}));
    }
  }
}

async function detailColumns({connections, report, signal}: CommandServices, items: readonly PodSandbox[]) {
  const {runtime} = await connections.default();
  const [{byId, failure}, containers] = await Promise.all([
    fetchSandboxDetails(runtime, items, signal),
    withContext('listing containers', listAllContainers(runtime, {}, signal)),
  ]);
  if (failure !== undefined) report.warn(`some details are missing: ${failure.message}`);
  return sandboxDetailColumns(byId, podContainers(containers));
}
