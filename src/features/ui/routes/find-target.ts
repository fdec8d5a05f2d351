import type {CommandContext} from '../../../cli/command/contexts.js';
import {escapeControls} from '../../../format/escape-controls.js';
import type {ActionTarget} from '../../top/actions/change-pod.js';
import type {LiveFeed} from '../live/live-feed.js';
import type {UiTarget} from '../live/ui-sampler.js';
import {RequestError} from '../server/request-error.js';

/** Returns the pod or container of the key in a request. Rejects with RequestError 404 if it does not exist any more. */
export async function findTarget(feed: LiveFeed, key: unknown): Promise<UiTarget> {
  const {targets} = await feed.current();
  const target = typeof key === 'string' ? targets.get(key) : undefined;
  if (target === undefined) throw new RequestError(404, 'the pod or container does not exist any more');
  return target;
}

/** Returns what an action needs about a pod or container. Rejects with KcriError. */
export async function actionTarget({item, shown, containers, actions}: UiTarget): Promise<ActionTarget> {
  return await actions.target(item, shown, containers);
}

/** Returns the services with connections to the node of the key. Rejects with RequestError 404 if it never answered. */
export async function findNode(feed: LiveFeed, key: string | null): Promise<CommandContext> {
  const {nodeServices} = await feed.current();
  const services = key === null ? undefined : nodeServices.get(key);
  if (services === undefined) throw new RequestError(404, 'the node is unknown, or did not answer yet');
  return services;
}

/** Returns text of several lines without control characters other than line feeds. */
export function pageText(text: string): string {
  return escapeControls(text).replaceAll('\t', '    ').trimEnd();
}
