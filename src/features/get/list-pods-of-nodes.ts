import type {Pod} from '../../api/types/v1-pod.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {GrowingTable} from '../../format/growing-table.js';
import type {Column} from '../../format/table.js';
import {setListExitCode} from '../lists/list-flags.js';
import {computePodRow} from '../pods/pod-row.js';
import {podColumns, type ExplainedPodRow} from '../pods/pod-table.js';
import {formatObjects, podJson, sortPods} from '../pods/pod-text.js';
import {isForPeople, type PodListingOptions} from './pod-listing.js';
import {selectPodsOfNodes, showsNamespaces} from '../pods/pods-of-nodes.js';
import type {ListedPodFlagValues} from '../pods/pod-selection-flags.js';

type Row = ExplainedPodRow & {readonly on: string};

/** Prints the selected pods of several nodes, with the node of each. Rejects with UsageError. */
export async function listPodsOfNodes(
  services: CommandContext,
  words: readonly string[],
  flags: ListedPodFlagValues,
  {form, header, exitCode, sortBy, labels}: PodListingOptions,
): Promise<void> {
  const {context, out, report} = services;
  const all = flags['all-namespaces'];
  const ofNodes = await selectPodsOfNodes(services, words, all ? {...flags, namespace: undefined} : flags);
  const found = ofNodes.flatMap(({node, shown}) => shown.map((each) => ({node, each})));
  const originOf = new Map<Pod, (typeof found)[number]>(found.map((origin) => [origin.each.pod, origin]));
  const pods = await sortPods([...originOf.keys()], sortBy);
  setListExitCode(report, {'exit-code': exitCode}, pods.length);
  if (!isForPeople(form)) {
    const items = pods.map((pod) => ({...podJson(pod), node: originOf.get(pod)?.node ?? ''}));
    out.printData(await formatObjects(form, items, false));
    return;
  }
  if (form.kind === 'name') {
    out.printText(pods.map(({metadata}) => `pod/${metadata.name ?? ''}\n`).join(''));
    return;
  }
  if (pods.length === 0 && !exitCode) report.info('No resources found');
  const wide = form.kind === 'wide';
  const now = context.clock.now();
  const {shortCause} = await import('../why/short-cause.js');
  const columns: readonly Column<Row>[] = [
    {header: 'NODE', value: ({on}) => on},
    ...podColumns({
      ...{wide, why: wide, labels},
      namespace: showsNamespaces(ofNodes, all),
      manager: ofNodes.some(({listed}) => listed.some(({manager}) => manager !== 'kcri')),
    }).filter(({header: title}) => title !== 'NODE'),
  ];
  const rows = pods.map((pod) => {
    const origin = originOf.get(pod);
    const why = wide && origin !== undefined ? shortCause(origin.each, now) : undefined;
    return {...computePodRow(pod, now), why, on: origin?.node ?? ''};
  });
  out.printText(new GrowingTable(columns, {header}).text(rows));
}
