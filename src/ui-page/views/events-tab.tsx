import type {JSX} from 'preact';
import type {UiEvent} from '../../features/ui/protocol.js';
import {ageText, nameText} from '../model/format.js';
import {useLoaded} from './hooks.js';
import {usePage} from './page-context.js';
import {LoadedView} from './small-parts.js';
import {summaryOf, type TabProps} from './tab-props.js';

/** Events of a pod, the newest first. */
export function EventsTab({pod}: TabProps): JSX.Element {
  const {api, model} = usePage();
  const loaded = useLoaded((signal) => api.podPart(pod.key, 'events', signal), {
    identity: pod.key,
    changes: summaryOf(pod),
    isLive: true,
  });
  return (
    <LoadedView loaded={loaded}>
      {({events}) =>
        events.length === 0 ? (
          <p class="muted">No events</p>
        ) : (
          <ol class="events">
            {events
              .toSorted((a, b) => b.timeMs - a.timeMs)
              .map((event) => (
                <EventItem
                  key={`${event.timeMs} ${event.reason} ${event.message}`}
                  event={event}
                  nowMs={model.nowMs}
                />
              ))}
          </ol>
        )
      }
    </LoadedView>
  );
}

function EventItem({event, nowMs}: {readonly event: UiEvent; readonly nowMs: number}): JSX.Element {
  const {timeMs, type, reason, message, count} = event;
  return (
    <li class={type === 'Normal' ? '' : 'warning'}>
      <time dateTime={new Date(timeMs).toISOString()} title={new Date(timeMs).toLocaleString()}>
        {ageText(timeMs, nowMs)}
      </time>
      <strong>{nameText(reason)}</strong>
      <span class="break">{message}</span>
      {count > 1 && <span class="badge">×{count}</span>}
      {type !== 'Normal' && <span class="hidden">{nameText(type)}</span>}
    </li>
  );
}
