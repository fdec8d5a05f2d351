import type {JSX} from 'preact';
import {nameText} from '../model/format.js';
import {DoctorView} from './doctor-view.js';
import {useKeys, useLoaded} from './hooks.js';
import {NodeMeters} from './node-strip.js';
import {usePage} from './page-context.js';
import {LoadedView} from './small-parts.js';
import {TopologyView} from './topology-view.js';
import {UsageCharts} from './usage-charts.js';

/** All about a node: usage, sockets and cores, the doctor's checks, and its description. */
export function NodePage({nodeKey}: {readonly nodeKey: string}): JSX.Element {
  const {api, model, go} = usePage();
  const node = model.nodes.get(nodeKey);
  const details = useLoaded((signal) => api.node(nodeKey, signal), {identity: nodeKey});
  useKeys((key) => {
    if (key !== 'Escape' && key !== 'q') return false;
    go({view: 'pods'});
    return true;
  });
  if (node === undefined)
    return (
      <div class="startup">
        <h1>Unknown node</h1>
        <a href="#/">Back to the pods</a>
      </div>
    );
  return (
    <>
      <div class="page-header">
        <h1 class="break">{nameText(node.name)}</h1>
        <p class="facts">{node.runtime !== undefined && <span>{nameText(node.runtime)}</span>}</p>
      </div>
      {node.failure !== undefined && <p class="error">{nameText(node.failure)}</p>}
      <section class="card" aria-label="Usage">
        <NodeMeters node={node} />
      </section>
      <UsageCharts usageKey={node.key} name={node.name} cpuUnit="% of all cores" />
      <LoadedView loaded={details}>
        {({topology}) => topology !== undefined && <TopologyView sockets={topology} />}
      </LoadedView>
      <DoctorView nodeKey={nodeKey} />
      {details.value !== undefined && (
        <section aria-label="Description">
          <h2>Description</h2>
          <pre class="code" tabIndex={0}>
            {details.value.text}
          </pre>
        </section>
      )}
    </>
  );
}
