import {pause} from '../../../base/async/pause.js';
import type {Node} from '../../../api/types/v1-node.js';
import type {Clock} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {
  createMergePatch,
  isAlreadyExists,
  isForbidden,
  isNotFound,
  type ApiClient,
} from '../../../kube-api/index.js';
import {reconcileNode} from './reconcile-node.js';

/** Options of {@link registerNode}. */
export interface RegisterNodeOptions {
  readonly client: ApiClient;
  /** Computes the Node for each attempt (computeInitialNode). */
  readonly createNode: () => Promise<Node>;
  /** True if extended resources of an existing Node stay (ShouldResetExtendedResourceCapacity). */
  readonly keepsExtended?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Delays between attempts: doubled up to a maximum, in ms (registerWithAPIServer). */
const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 7000;

/** Result of a registration. */
export interface RegisteredNode {
  /** Node that was sent (computeInitialNode). */
  readonly initial: Node;
  /** True if it was created, false if it existed already. */
  readonly isNew: boolean;
}

/**
 * Creates the Node, or reconciles an existing one, until it succeeds. Rejects with the signal's reason
 * (Kubelet.registerWithAPIServer).
 */
export async function registerNode(
  options: RegisterNodeOptions,
  signal: AbortSignal,
): Promise<RegisteredNode> {
  const {clock} = options;
  const logger = options.logger.forFile('node-registrar.ts');
  for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      return await tryRegister(options, logger, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.error(error, 'Unable to register node with API server');
    }
    await pause(clock, delayMs, signal);
  }
}

async function tryRegister(
  {client, createNode, keepsExtended}: RegisterNodeOptions,
  logger: FileLogger,
  signal: AbortSignal,
): Promise<RegisteredNode> {
  const initial = await createNode();
  const name = initial.metadata.name ?? '';
  let refusal: unknown;
  try {
    await client.request({method: 'POST', path: '/api/v1/nodes', body: initial}, signal);
    logger.info('Successfully registered node', {node: name});
    return {initial, isNew: true};
  } catch (error) {
    // A node that may not create itself may exist nevertheless.
    if (!isAlreadyExists(error) && !isForbidden(error)) throw error;
    refusal = error;
  }
  const path = `/api/v1/nodes/${name}`;
  const existing = (await client.request({method: 'GET', path}, signal).catch((error: unknown) => {
    throw isNotFound(error) ? refusal : error;
  })) as Node;
  logger.info('Node was previously registered', {node: name});
  const patch = createMergePatch({...existing}, {...reconcileNode(existing, initial, keepsExtended)});
  if (Object.keys(patch).length === 0) return {initial, isNew: false};
  // As in the kubelet, the subresource: a node may change its own metadata there.
  await client.request({method: 'PATCH', path: `${path}/status`, body: patch}, signal);
  return {initial, isNew: false};
}
