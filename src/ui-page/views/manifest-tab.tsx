import type {JSX} from 'preact';
import {useState} from 'preact/hooks';
import {useLoaded} from './hooks.js';
import {usePage} from './page-context.js';
import {LoadedView} from './small-parts.js';
import type {TabProps} from './tab-props.js';

/** Effective manifest of a pod, with the origin of each field. */
export function ManifestTab({pod}: TabProps): JSX.Element {
  const {api} = usePage();
  const [hasOrigins, setHasOrigins] = useState(true);
  const loaded = useLoaded((signal) => api.podPart(pod.key, 'manifest', signal), {identity: pod.key});
  return (
    <LoadedView loaded={loaded}>
      {({lines}) => (
        <>
          <label class="check">
            <input type="checkbox" checked={hasOrigins} onInput={() => setHasOrigins(!hasOrigins)} />
            Show the origins of values
          </label>
          <div class="code manifest" tabIndex={0} role="group" aria-label="Manifest">
            {lines.map(({text, origin}, index) => (
              <div
                key={index}
                class={origin !== undefined ? 'added' : text.startsWith('# ') ? 'heading' : ''}
              >
                <code>{text}</code>
                {hasOrigins && origin !== undefined && <span class="origin">{origin}</span>}
              </div>
            ))}
          </div>
        </>
      )}
    </LoadedView>
  );
}
