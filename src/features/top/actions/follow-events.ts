import type {RuntimeService} from '../../../cri/index.js';
import {EventNameResolver, matchesEventFilter} from '../../../operations/events/container-events.js';
import {streamEndedError} from '../../events/show-events.js';
import {eventLine} from '../../events/event-line.js';
import type {FollowOptions} from './follow-logs.js';
import {safeText} from '../view/screen-lines.js';

/**
 * Follows the runtime's events of a pod, `NAMESPACE/NAME`, and of its containers. Rejects with KcriError if the runtime
 * has none, and with the signal's reason.
 */
export async function followEvents(
  runtime: RuntimeService,
  pod: string,
  {signal, onLines}: FollowOptions,
): Promise<void> {
  const names = new EventNameResolver();
  await names.load(runtime, signal);
  // There may be no events for a long time.
  onLines([]);
  for await (const event of runtime.getContainerEvents({}, {signal})) {
    const named = names.name(event);
    if (matchesEventFilter(named, {pods: [pod]})) onLines([safeText(eventLine(named))]);
  }
  signal.throwIfAborted();
  throw await streamEndedError(runtime, signal);
}
