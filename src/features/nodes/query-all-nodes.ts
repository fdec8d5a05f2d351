import {ConfigError, KcriError, UsageError} from '../../base/errors.js';
import {RemoteError} from '../../remote/remote-error.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import type {CommandSettings} from '../../cli/settings/command-settings.js';
import {archiveFile} from '../../cri/endpoint.js';
import {nameNodes} from './name-nodes.js';
import type {NodeResult} from './node-result.js';

/** Result of the query of one node, or its error. */
export type NodeOutcome<T> =
  | {readonly result: NodeResult<T> & {readonly node: string}}
  | {readonly node: string; readonly error: KcriError};

type RawOutcome<T> =
  | {readonly result: NodeResult<T> & {readonly node: string}}
  | {readonly node: string; readonly error: unknown};

/** Queries several nodes, as queryNodes. */
export async function queryAllNodes<T>(
  services: CommandContext,
  query: (services: CommandContext) => Promise<T>,
): Promise<readonly NodeResult<T>[]> {
  const outcomes = await queryEachNode(services, query);
  return outcomes.flatMap((outcome) => {
    if ('result' in outcome) return [outcome.result];
    services.report.fail(outcome.error);
    return [];
  });
}

/**
 * Queries the nodes of all endpoints of the command line at once, and returns the results and errors in their order. Rejects
 * with UsageError, with ConfigError if the nodes would share an endpoint, and with the signal's reason.
 */
export async function queryEachNode<T>(
  services: CommandContext,
  query: (services: CommandContext) => Promise<T>,
): Promise<readonly NodeOutcome<T>[]> {
  const {settings, signal} = services;
  await assertNoImageEndpoint(settings);
  const outcomes = await Promise.all(
    [...nameNodes(settings.runtimeEndpoints)].map(async ([endpoint, node]): Promise<RawOutcome<T>> => {
      const own = await services.forNode(endpoint);
      try {
        return {result: {node, services: own, value: await query(own)}};
      } catch (error) {
        return {node, error: own.connections.reasonOf(error)};
      }
    }),
  );
  signal.throwIfAborted();
  return outcomes.map((outcome) =>
    'result' in outcome ? outcome : {node: outcome.node, error: nodeError(outcome.node, outcome.error)},
  );
}

/** Rejects with ConfigError if several nodes would share an endpoint of the image service. */
export async function assertNoImageEndpoint(settings: CommandSettings): Promise<void> {
  const {imageEndpoint} = await settings.read();
  // Saved nodes have one endpoint for both services.
  const areSaved = settings.runtimeEndpoints.every((endpoint) => archiveFile(endpoint) !== undefined);
  if (imageEndpoint !== undefined && !areSaved)
    throw new ConfigError('several runtime endpoints cannot have one image endpoint', {
      hint: 'omit --image-endpoint, and unset IMAGE_SERVICE_ENDPOINT and image-endpoint in the config file',
    });
}

/** Returns the error to report for a node. Throws errors of the command line and bugs. */
export function nodeError(node: string, error: unknown): KcriError {
  if (!(error instanceof KcriError) || error instanceof UsageError) throw error;
  if (error instanceof RemoteError) return error;
  return new RemoteError(`node "${node}": ${error.plainMessage}`, {cause: error, hint: error.hint});
}
