import type {LiveFeed} from '../live/live-feed.js';
import {updateLine, usageText} from '../live/live-stream.js';
import type {UiSampler, UiSnapshot} from '../live/ui-sampler.js';
import type {UiRoute} from '../server/ui-request.js';

/** Returns the route of the stream of all nodes and pods. */
export function liveRoute(feed: LiveFeed, sampler: Pick<UiSampler, 'history'>): UiRoute {
  return {
    method: 'GET',
    path: '/api/live',
    handle: async () =>
      await Promise.resolve({
        kind: 'stream',
        type: 'application/x-ndjson; charset=utf-8',
        write: async (sink) => {
          await feed.open(async (first, stream) => {
            sink.write(stateLine(first, sampler.history));
            for (;;) {
              await sink.ready();
              sink.write(updateLine(await stream.next(sink.signal)));
            }
          });
        },
      }),
  };
}

function stateLine({nowMs, nodes, podTexts, usageTexts}: UiSnapshot, history: UiSampler['history']): string {
  const pods = [...podTexts.values()].join(',');
  return `{"kind":"state","nowMs":${nowMs},"nodes":${JSON.stringify(nodes)},"pods":[${pods}],"usage":${usageText(usageTexts)},"history":${JSON.stringify(history)}}\n`;
}
