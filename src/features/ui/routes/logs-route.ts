import {KcriError} from '../../../base/errors.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import type {LiveFeed} from '../live/live-feed.js';
import type {UiTarget} from '../live/ui-sampler.js';
import {RequestError} from '../server/request-error.js';
import type {UiRequest, UiRoute} from '../server/ui-request.js';
import {actionTarget, findTarget} from './find-target.js';

/** Largest number of last lines. */
const MAX_TAIL = 100_000;

/**
 * Returns the route of logs that are followed. The last line of a log that cannot be read any further is the reason. `safe`
 * removes secrets and control characters from a message.
 */
export function logsRoute(feed: LiveFeed, safe: (text: string) => string): UiRoute {
  return {
    method: 'GET',
    path: '/api/logs',
    handle: async ({query}) => {
      const tailLines = parseTail(query);
      const found = await findTarget(feed, query.get('key'));
      const target = await actionTarget(chooseContainer(found, query.get('container')));
      return {
        kind: 'stream',
        type: 'text/plain; charset=utf-8',
        write: async (sink) => {
          const following = found.actions.followLogs(target, {
            signal: sink.signal,
            tailLines,
            previous: query.get('previous') === 'true',
            onLines: (lines) => {
              if (lines.length > 0) sink.write(`${lines.join('\n')}\n`);
            },
            ready: async () => {
              await sink.ready();
            },
          });
          await following.catch((error: unknown) => {
            // The answer has begun: its status cannot tell any more.
            if (!(error instanceof KcriError) || sink.signal.aborted) throw error;
            sink.write(`--- ${escapeToLine(safe(error.plainMessage))}\n`);
          });
        },
      };
    },
  };
}

function parseTail(query: UiRequest['query']): number | undefined {
  const text = query.get('tail');
  if (text === null) return undefined;
  if (!/^\d{1,6}$/.test(text) || Number(text) > MAX_TAIL)
    throw new RequestError(400, `tail must be a number up to ${MAX_TAIL}`);
  return Number(text);
}

/** Returns a pod with only one of its containers. Throws RequestError 404 if it has no such container. */
function chooseContainer(target: UiTarget, name: string | null): UiTarget {
  if (name === null) return target;
  const containers = target.containers.filter((container) => container.name === name);
  if (containers.length === 0) throw new RequestError(404, 'the pod has no such container');
  return {...target, containers};
}
