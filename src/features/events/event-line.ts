import {truncateId} from '../../format/truncate-id.js';
import {formatRfc3339Nano} from '../../format/time.js';
import {escapeToLine} from '../../format/escape-controls.js';
import type {NamedEvent} from '../../operations/events/container-events.js';

const NANOS_PER_SECOND = 1_000_000_000n;

/** Formats an event of the runtime as one line with control characters escaped: time, type, object and exit code. */
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
  return escapeToLine(line);
}

function detailsOf({event, type}: Pick<NamedEvent, 'event' | 'type'>): readonly string[] {
  const status = event.containersStatuses.find(({id}) => id === event.containerId);
  if (type !== 'stopped' || status === undefined) return [];
  return [`exit code ${status.exitCode}${status.reason === '' ? '' : ` (${status.reason})`}`];
}
