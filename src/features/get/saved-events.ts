import {UsageError} from '../../base/errors.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {matchesEventFilter} from '../../operations/events/container-events.js';
import {PodReader} from '../pods/pod-reader.js';
import {eventSubject, podEventLine} from '../events/event-table.js';
import type {EventForm, EventSelection} from '../events/show-events.js';

/**
 * Shows the events of the pods of a saved node, those of kcri: a runtime stores none. Rejects with UsageError for a format that
 * only events of the runtime have, and with ConfigError.
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
  const reader = new PodReader(services);
  const events = await reader.recordedEvents(await reader.select([], {}));
  const sinceMs = Number(since / 1_000_000n);
  const shown = events.filter(
    (recorded) =>
      Date.parse(recorded.event.lastTimestamp) >= sinceMs &&
      matchesEventFilter(eventSubject(recorded), filter),
  );
  if (shown.length === 0) services.report.info('No events found');
  services.out.printText(shown.map((recorded) => `${podEventLine(recorded)}\n`).join(''));
}
