import type {JSX} from 'preact';
import {nameText} from '../model/format.js';
import {useLoaded} from './hooks.js';
import {usePage} from './page-context.js';
import {LoadedView} from './small-parts.js';
import {summaryOf, type TabProps} from './tab-props.js';

/** Phases of a pod's life as a picture. As an image it cannot run scripts, whatever is in it. */
export function TimelineTab({pod}: TabProps): JSX.Element {
  const {api} = usePage();
  const loaded = useLoaded((signal) => api.podPart(pod.key, 'timeline', signal), {
    identity: pod.key,
    changes: summaryOf(pod),
  });
  return (
    <LoadedView loaded={loaded}>
      {(timeline) =>
        'missing' in timeline ? (
          <p class="muted">{timeline.missing}</p>
        ) : (
          <>
            <div class="timeline scroll-x" tabIndex={0} role="group" aria-label="Timeline">
              <img
                alt={`Timeline of ${pod.namespace}/${pod.name}; "kcri timeline" prints it as text`}
                src={`data:image/svg+xml,${encodeURIComponent(timeline.svg)}`}
              />
            </div>
            <p class="hint">
              A pale bar and “~” mean that the phase is inferred from other times; “kcri timeline{' '}
              {nameText(`${pod.namespace}/${pod.name}`)}” says from which.
            </p>
          </>
        )
      }
    </LoadedView>
  );
}
