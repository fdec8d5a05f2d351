import {escapeToLine} from '../../../format/escape-controls.js';
import type {TopGroup, TopItem} from '../../top/model/top-item.js';
import type {UiContainer, UiPod, UiRow} from '../protocol.js';

/** States that pass by themselves. */
const BUSY: ReadonlySet<string> = new Set([
  'Waiting',
  'Pending',
  'ContainerCreating',
  'PodInitializing',
  'Terminating',
  'Unknown',
]);
const DONE: ReadonlySet<string> = new Set(['Completed', 'Succeeded']);

/** Returns a pod with its containers for the page, without their usage. `why` says why it does not run. */
export function uiPod(
  {pod, containers}: TopGroup,
  more: {node: string; image: (container: string) => string; why?: string | undefined},
): UiPod {
  return {
    ...uiRow(pod, podTone(pod)),
    node: more.node,
    namespace: escapeToLine(pod.namespace),
    uid: escapeToLine(pod.podKey.split(' ').at(-1) ?? ''),
    manager: pod.manager,
    ...(more.why !== undefined && {why: escapeToLine(more.why)}),
    ...(pod.isStale && {isStale: true}),
    containers: containers.map((container) => uiContainer(container, more.image(container.name))),
  };
}

/** Reports whether a state needs no explanation. */
export function isFine(tone: UiRow['tone']): boolean {
  return tone === 'good' || tone === 'done';
}

export function podTone({state, ready}: Pick<TopItem, 'state' | 'ready'>): UiRow['tone'] {
  const [is, of] = ready.split('/');
  return toneOf(state, is === of);
}

function toneOf(state: string, isReady: boolean): UiRow['tone'] {
  if (state === 'Running') return isReady ? 'good' : 'busy';
  if (DONE.has(state)) return 'done';
  // Init:1/2
  return BUSY.has(state) || /^Init:\d+\/\d+$/.test(state) ? 'busy' : 'bad';
}

function uiRow(item: TopItem, tone: UiRow['tone']): UiRow {
  const {key, name, state, ready, restarts, startedMs} = item;
  return {
    key,
    name: escapeToLine(name),
    state: escapeToLine(state),
    tone,
    ready,
    restarts,
    ...(startedMs !== undefined && {startedMs}),
  };
}

function uiContainer(item: TopItem, image: string): UiContainer {
  const {state, ready, containerId, probes, exclusiveCpus} = item;
  return {
    ...uiRow(item, toneOf(state, ready === 'yes')),
    image: escapeToLine(image),
    ...(containerId !== undefined && {id: containerId}),
    ...(probes !== '' && {probes}),
    ...(exclusiveCpus !== '' && {exclusiveCpus}),
  };
}
