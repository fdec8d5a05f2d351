import type {JSX} from 'preact';
import type {UiNode} from '../../features/ui/protocol.js';
import {ageText, nameText, percentText, shareOf, sizeText} from '../model/format.js';
import {formatRoute} from '../model/route.js';
import {usePage} from './page-context.js';
import {Bar, Sparkline} from './small-parts.js';

/** Age from which that of a measurement is shown, in ms. */
const OLD_MS = 5000;

/** Usage and pressure of all nodes. */
export function NodeStrip(): JSX.Element {
  const {model} = usePage();
  return (
    <section class="nodes" aria-label="Nodes">
      {[...model.nodes.values()].map((node) => (
        <NodeCard key={node.key} node={node} />
      ))}
    </section>
  );
}

function NodeCard({node}: {readonly node: UiNode}): JSX.Element {
  return (
    <article class="card node-card">
      <header>
        <h2>
          <a href={formatRoute({view: 'node', key: node.key})} title={nameText(node.name)}>
            {nameText(node.name)}
          </a>
        </h2>
        {node.runtime !== undefined && <span class="muted ellipsis">{nameText(node.runtime)}</span>}
      </header>
      {node.failure !== undefined && <p class="error">{nameText(node.failure)}</p>}
      <NodeMeters node={node} />
    </article>
  );
}

/** What a node uses: processors, memory, file systems, and how long tasks wait for them. */
export function NodeMeters({node}: {readonly node: UiNode}): JSX.Element {
  const {history, model} = usePage();
  const {cpuPercent, cores, measuredMs, memoryBytes, memoryTotalBytes, disks = [], pressure = {}} = node;
  const coresText = cores === undefined ? '' : ` of ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  return (
    <dl class="meters">
      <div>
        <dt>CPU</dt>
        <dd>
          {cpuPercent === undefined ? '-' : `${percentText(cpuPercent)}%`}
          <span class="muted">{coresText}</span>
        </dd>
        <Sparkline numbers={history.last(node.key, 'cpu', 60)} max={cores === undefined ? undefined : 100} />
      </div>
      <div>
        <dt>Memory</dt>
        <dd>
          {sizeText(memoryBytes)}
          {memoryTotalBytes !== undefined && <span class="muted"> of {sizeText(memoryTotalBytes)}</span>}
        </dd>
        <Sparkline numbers={history.last(node.key, 'memory', 60)} max={memoryTotalBytes} />
      </div>
      {disks.map(({name, usedBytes, totalBytes}) => (
        <div key={name}>
          <dt title={nameText(name)}>{nameText(name)}</dt>
          <dd>
            {shareOf(usedBytes, totalBytes).toFixed(0)}%<span class="muted"> of {sizeText(totalBytes)}</span>
          </dd>
          <Bar part={usedBytes} whole={totalBytes} />
        </div>
      ))}
      {Object.keys(pressure).length > 0 && (
        <div class="pressure">
          <dt title="Share of the last ten seconds in which some task waited">Pressure</dt>
          {Object.entries(pressure).map(([resource, percent]) => (
            <dd key={resource} class={percent >= 10 ? 'busy' : ''}>
              <span class="muted">{resource}</span> {percentText(percent)}%
            </dd>
          ))}
        </div>
      )}
      {measuredMs !== undefined && model.nowMs - measuredMs >= OLD_MS && (
        <div class="measured">
          <dt>Measured</dt>
          <dd>{ageText(measuredMs, model.nowMs)} ago</dd>
        </div>
      )}
    </dl>
  );
}
