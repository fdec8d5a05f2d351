import {itemPlace} from '../../top/model/top-item.js';
import type {LiveFeed} from '../live/live-feed.js';
import type {UiTarget} from '../live/ui-sampler.js';
import type {ActionRequest, UiAction} from '../protocol.js';
import {RequestError} from '../server/request-error.js';
import type {UiRoute} from '../server/ui-request.js';
import {actionTarget, findTarget} from './find-target.js';

/** What routes that change something need. */
export interface ChangeRouteOptions {
  readonly feed: LiveFeed;
  /** Actions of --allow. */
  readonly allowed: readonly UiAction[];
  /** Reports what was done on the page. */
  readonly report: (text: string) => void;
}

/** Throws RequestError 403 unless --allow names the action. */
export function requireAllowed(allowed: readonly UiAction[], action: UiAction): void {
  if (!allowed.includes(action))
    throw new RequestError(
      403,
      `${NOUNS[action]} not allowed`,
      `start kcri ui with --allow=${[...allowed, action].join(',')}`,
    );
}

const NOUNS: Readonly<Record<UiAction, string>> = {
  exec: 'terminals are',
  restart: 'restarts are',
  delete: 'deletions are',
};

/** Returns the routes that restart and delete pods and containers. */
export function changeRoutes(options: ChangeRouteOptions): readonly UiRoute[] {
  /** Keys of the pods that are being changed, and of those whose container is. */
  const running = new Set<string>();
  return [
    changeRoute('restart', {...options, running}, async (target) => {
      await target.actions.restart(await actionTarget(target));
    }),
    changeRoute('delete', {...options, running}, async (target) => {
      await target.actions.delete(await actionTarget(target));
    }),
  ];
}

function changeRoute(
  action: 'restart' | 'delete',
  {feed, allowed, report, running}: ChangeRouteOptions & {readonly running: Set<string>},
  change: (target: UiTarget) => Promise<void>,
): UiRoute {
  return {
    method: 'POST',
    path: `/api/${action}`,
    handle: async ({body}) => {
      requireAllowed(allowed, action);
      const {key: asked}: {readonly [Field in keyof ActionRequest]?: unknown} = body;
      const target = await findTarget(feed, asked);
      const {podKey} = target.item;
      if (running.has(podKey)) throw new RequestError(409, 'the pod is already being restarted or deleted');
      running.add(podKey);
      try {
        report(`kcri: ${action} of ${itemPlace(target.item)}, as the page asked`);
        // It goes on if the page is closed meanwhile.
        await change(target);
      } finally {
        running.delete(podKey);
      }
      await feed.refresh();
      return {kind: 'done'};
    },
  };
}
