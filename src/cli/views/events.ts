import {truncateId} from '../../format/id.js';
import {formatRfc3339Nano} from '../../format/time.js';
import {visibleInLine} from '../../format/visible.js';
import type {NamedEvent} from '../../operations/events.js';

const NANOS_PER_SECOND = 1_000_000_000n;

/** An event for people, in one line that can't steer a terminal: when, what, to what, and how it ended. */
export function eventLine({event, type, pod, container}: NamedEvent): string {
  const seconds = event.createdAt - (event.createdAt % NANOS_PER_SECOND);
  const where = pod === undefined ? 'unknown' : `${pod.namespace}/${pod.name}`;
  const title = container === undefined ? where : `${where}/${container.name || 'unknown'}`;
  const line = [
    formatRfc3339Nano(seconds),
    type.padEnd(7),
    (container === undefined ? 'pod' : 'container').padEnd(9),
    truncateId(event.containerId),
    title,
    ...detailsOf({event, type}),
  ].join('  ');
  return visibleInLine(line);
}

function detailsOf({event, type}: Pick<NamedEvent, 'event' | 'type'>): readonly string[] {
  const status = event.containersStatuses.find(({id}) => id === event.containerId);
  if (type !== 'stopped' || status === undefined) return [];
  return [`exit code ${status.exitCode}${status.reason === '' ? '' : ` (${status.reason})`}`];
}
