import type {CommandContext} from '../../cli/command/contexts.js';
import type {NodeResult} from './node-result.js';

/**
 * Queries the nodes of all endpoints of the command line at once, and returns the results in their order. If there are
 * several, a node that fails is reported and does not hide the others. Rejects with the error of a single node, and with
 * UsageError.
 */
export async function queryNodes<T>(
  services: CommandContext,
  query: (services: CommandContext) => Promise<T>,
): Promise<readonly NodeResult<T>[]> {
  const {dialect, settings} = services;
  if (settings.runtimeEndpoints.length < 2 || !dialect.queriesSeveralNodes)
    return [{node: undefined, services, value: await query(services)}];
  const {queryAllNodes} = await import('./query-all-nodes.js');
  return await queryAllNodes(services, query);
}
