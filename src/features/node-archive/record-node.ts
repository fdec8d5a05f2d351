import {abortable} from '../../base/async/abortable.js';
import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import {KcriError, SystemError} from '../../base/errors.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {collectNodeFacts, type NodeFacts} from '../node/node-facts.js';

/** Time for the facts about the node, in ms. */
const TIMEOUT_MS = 4000;

/** Records the Node object and the kubelet's report, or the reason why they cannot be read. Rejects with the signal's reason. */
export async function recordNode(services: RuntimeContext): Promise<NodeFacts | {readonly error: string}> {
  const {context, settings, signal} = services;
  if ((await settings.remoteEndpoint()) !== undefined)
    return {error: 'they are read only by a kcri that runs on the node'};
  using deadline = createDeadline(context.clock, TIMEOUT_MS, () => new SystemError('not read in time'));
  using either = anySignal(signal, deadline.signal);
  try {
    return await abortable(collectNodeFacts(services, true), either.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KcriError)) throw error;
    return {error: error.plainMessage};
  }
}
