import type {JSX} from 'preact';
import type {UiPod} from '../../features/ui/protocol.js';
import {ageText, nameText, percentText, sizeText} from '../model/format.js';
import {formatRoute} from '../model/route.js';
import {useLoaded} from './hooks.js';
import {usePage} from './page-context.js';
import {LoadedView, StateText} from './small-parts.js';
import {UsageCharts} from './usage-charts.js';
import {summaryOf, type TabProps} from './tab-props.js';

/** Status of a pod: why it is so, usage, containers, and its description. */
export function StatusTab({pod}: TabProps): JSX.Element {
  const {api} = usePage();
  const changes = summaryOf(pod);
  const options = {identity: pod.key, changes, isLive: true};
  const why = useLoaded((signal) => api.podPart(pod.key, 'why', signal), options);
  const status = useLoaded((signal) => api.podPart(pod.key, 'status', signal), options);
  return (
    <>
      <section class={`card why ${pod.tone}`} aria-label="Why">
        <h2>Why</h2>
        <LoadedView loaded={why}>{({text}) => <pre class="prose">{text}</pre>}</LoadedView>
      </section>
      <UsageCharts usageKey={pod.key} name={`${pod.namespace}/${pod.name}`} />
      <Containers pod={pod} />
      <section aria-label="Description">
        <h2>Description</h2>
        <LoadedView loaded={status}>
          {({text}) => (
            <pre class="code" tabIndex={0}>
              {text}
            </pre>
          )}
        </LoadedView>
      </section>
    </>
  );
}

function Containers({pod}: {readonly pod: UiPod}): JSX.Element {
  const {model} = usePage();
  const link = (tab: 'logs' | 'shell', container: string): string =>
    formatRoute({view: 'pod', key: pod.key, tab, container});
  return (
    <section aria-label="Containers">
      <h2>Containers</h2>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Containers">
        <table class="plain">
          <thead>
            <tr>
              {['Name', 'State', 'Ready', 'Restarts', 'CPU %', 'Memory', 'Age', 'Image', 'Open'].map(
                (name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {pod.containers.map((container) => (
              <tr key={container.key}>
                <th scope="row">{nameText(container.name)}</th>
                <td>
                  <StateText row={container} />
                </td>
                <td>{container.ready}</td>
                <td>{container.restarts}</td>
                <td>{percentText(container.cpuPercent)}</td>
                <td>{sizeText(container.memoryBytes)}</td>
                <td>{ageText(container.startedMs, model.nowMs)}</td>
                <td class="break">{nameText(container.image)}</td>
                <td class="links">
                  <a href={link('logs', container.name)}>Logs</a>{' '}
                  <a href={link('shell', container.name)}>Shell</a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
