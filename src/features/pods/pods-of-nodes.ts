import {UsageError, type KcriError} from '../../base/errors.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {missingEverywhere} from '../nodes/missing-everywhere.js';
import {queryAllNodes} from '../nodes/query-all-nodes.js';
import type {ListedPod, ShownPod} from './listed-pod.js';
import {PodReader} from './pod-reader.js';
import type {PodSelectionFlagValues} from './pod-selection-flags.js';

/** Selected pods of one of several nodes. */
export interface PodsOfNode {
  readonly node: string;
  readonly services: CommandContext;
  readonly reader: PodReader;
  readonly listed: readonly ListedPod[];
  readonly shown: readonly ShownPod[];
}

/** Reports whether the command line names several nodes. */
export const hasSeveralNodes = ({settings}: CommandContext): boolean => settings.runtimeEndpoints.length > 1;

/** Rejects flags that work on one node only. Throws UsageError. */
export function requireOneNode(flags: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const given = names.find((name) => flags[name] === true);
  if (given !== undefined) throw new UsageError(`--${given} takes only one node`);
}

/**
 * Returns the pods that words and flags select on several nodes, by node. A word only has to name something on one of them; one
 * that names nothing is reported. A node that cannot be read is reported and does not hide the others. Rejects with UsageError.
 */
export async function selectPodsOfNodes(
  services: CommandContext,
  words: readonly string[],
  flags: PodSelectionFlagValues,
): Promise<readonly PodsOfNode[]> {
  const results = await queryAllNodes(services, async (node) => {
    const reader = new PodReader(node);
    const missing: KcriError[] = [];
    const listed = await reader.select(words, flags, (error) => missing.push(error));
    reader.requireRuntime();
    const shown = words.length > 0 && listed.length === 0 ? [] : await reader.observe(listed);
    reader.requireRuntime();
    return {reader, missing, listed, shown};
  });
  for (const error of missingEverywhere(results.map(({value}) => value.missing))) services.report.fail(error);
  return results.map(({node = '', services: own, value: {reader, listed, shown}}) => ({
    ...{node, services: own, reader, listed, shown},
  }));
}

/** Reports whether a table needs a column for the namespaces of pods. */
export const showsNamespaces = (pods: readonly PodsOfNode[], all: boolean): boolean =>
  all || pods.some(({listed}) => listed.some(({namespace}) => namespace !== 'default'));
