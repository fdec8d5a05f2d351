import {escapeControls, escapeToLine} from '../../../format/escape-controls.js';
import {PodReader} from '../../pods/pod-reader.js';
import type {LiveFeed} from '../live/live-feed.js';
import type {UiSnapshot, UiTarget} from '../live/ui-sampler.js';
import type {PodParts, UiEvent} from '../protocol.js';
import {RequestError} from '../server/request-error.js';
import type {UiRoute} from '../server/ui-request.js';
import {findTarget} from './find-target.js';

type PartReader<Part extends keyof PodParts> = (
  target: UiTarget,
  snapshot: UiSnapshot,
) => Promise<PodParts[Part]>;

const PARTS: {readonly [Part in keyof PodParts]: PartReader<Part>} = {
  status: async ({actions, item, shown}) => ({
    text: (await actions.readText('describe', item, shown)).join('\n'),
  }),
  why: async ({actions, item, shown}) => ({text: (await actions.readText('why', item, shown)).join('\n')}),
  events: async ({actions, shown}) => {
    const events = await actions.recordedEvents(shown);
    return {
      events: events.map(({type, reason, message, count, lastTimestamp}): UiEvent => ({
        timeMs: Date.parse(lastTimestamp),
        type,
        reason: escapeToLine(reason),
        message: escapeToLine(message.trim()),
        count,
      })),
    };
  },
  timeline: async (target, snapshot) => await readTimeline(target, snapshot),
  manifest: async ({services, shown}) => {
    const {effectiveManifest} = await import('./effective-manifest.js');
    return {lines: await effectiveManifest(services, shown)};
  },
};

/** Returns the route of the details of a pod. */
export function podRoute(feed: LiveFeed): UiRoute {
  return {
    method: 'GET',
    path: '/api/pod',
    handle: async ({query}) => {
      const part = query.get('part');
      if (part === null || !Object.hasOwn(PARTS, part))
        throw new RequestError(400, `part must be one of ${Object.keys(PARTS).join(', ')}`);
      const target = await findTarget(feed, query.get('key'));
      const value = await PARTS[part as keyof PodParts](target, await feed.current());
      return {kind: 'json', value};
    },
  };
}

/** Draws the timeline of a pod, compared with the other pods of its node. */
async function readTimeline(
  {services, shown, item}: UiTarget,
  {targets}: UiSnapshot,
): Promise<PodParts['timeline']> {
  const [{COMPARED_PODS, computeTimelines}, {formatSvg}] = await Promise.all([
    import('../../timeline/pod-timelines.js'),
    import('../../timeline/timeline-svg.js'),
  ]);
  const others = [...targets.values()].filter(
    (other) => other.item.kind === 'pod' && other.item.node === item.node && other.shown !== shown,
  );
  const {timelines, medians} = await computeTimelines(services, new PodReader(services), {
    shown: [shown, ...others.slice(0, COMPARED_PODS).map((other) => other.shown)],
    uids: new Set([shown.listed.uid]),
  });
  if (timelines.every(({phases}) => phases.length === 0))
    return {missing: 'nothing is known about the life of this pod'};
  return {svg: escapeControls(formatSvg(timelines, medians))};
}
