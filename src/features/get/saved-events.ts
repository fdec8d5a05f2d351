import {compare} from '../../base/compare.js';
import {UsageError} from '../../base/errors.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {matchesEventFilter} from '../../operations/events/container-events.js';
import {queryNodes} from '../nodes/query-nodes.js';
import {PodReader} from '../pods/pod-reader.js';
import {eventSubject, podEventLine} from '../events/event-table.js';
import type {EventForm, EventSelection} from '../events/show-events.js';

/**
 * Shows the events of the pods of saved nodes, those of kcri: a runtime stores none. Of several nodes, each event begins with
 * the name of its node. Rejects with UsageError for a format that only events of the runtime have, and with ConfigError.
 */
export async function showSavedEvents(
  services: CommandContext,
  form: EventForm,
  {filter, since}: EventSelection,
): Promise<void> {
  if (form.kind !== 'table')
    throw new UsageError(`a saved node has no events of the runtime, which "${form.kind}" shows`, {
      hint: 'use "kcri get events", or -o table',
    });
  const sinceMs = Number(since / 1_000_000n);
  const results = await queryNodes(services, async (node) => {
    const reader = new PodReader(node);
    const events = await reader.recordedEvents(await reader.select([], {}));
    return events.filter(
      (recorded) =>
        Date.parse(recorded.event.lastTimestamp) >= sinceMs &&
        matchesEventFilter(eventSubject(recorded), filter),
    );
  });
  const width = Math.max(...results.map(({node = ''}) => node.length));
  const shown = results
    .flatMap(({node, value}) => value.map((recorded) => ({node, recorded})))
    .toSorted((a, b) => compare(a.recorded.event.lastTimestamp, b.recorded.event.lastTimestamp))
    .map(({node, recorded}) => {
      const line = `${podEventLine(recorded)}\n`;
      return node === undefined ? line : `${node.padEnd(width)}  ${line}`;
    });
  if (shown.length === 0) services.report.info('No events found');
  services.out.printText(shown.join(''));
}
