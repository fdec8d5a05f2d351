import type {CommandContext} from '../../cli/command/contexts.js';
import type {OutputFormat} from '../../cli/output/output-format.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {selectPodsOfNodes} from '../pods/pods-of-nodes.js';
import type {PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import {formatObjects, podJson} from '../pods/pod-text.js';
import {describePods} from './describe-pods.js';

/** Describes the selected pods of several nodes, below the name of each node. Rejects with UsageError. */
export async function describePodsOfNodes(
  services: CommandContext,
  form: OutputFormat<'table' | 'json' | 'yaml'>,
  words: readonly string[],
  flags: PodSelectionFlagValues,
): Promise<void> {
  const {out, report} = services;
  const ofNodes = (await selectPodsOfNodes(services, words, flags)).filter(({shown}) => shown.length > 0);
  if (form.kind !== 'table') {
    const items = ofNodes.flatMap(({node, shown}) => shown.map(({pod}) => ({...podJson(pod), node})));
    out.printData(await formatObjects(form, items, false));
    return;
  }
  if (ofNodes.length === 0 && words.length === 0) report.info('No resources found');
  const texts = await Promise.all(
    ofNodes.map(async ({node, services: own, reader, shown}) => {
      const described = await describePods(own, reader, shown);
      return `node ${escapeToLine(node)}\n\n${described.join('\n\n')}`;
    }),
  );
  out.printText(texts.join('\n\n'));
}
