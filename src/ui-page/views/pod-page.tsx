import type {JSX} from 'preact';
import type {UiPod} from '../../features/ui/protocol.js';
import {ageText, nameText} from '../model/format.js';
import {formatRoute, POD_TABS, type PodTab, type Route} from '../model/route.js';
import {ACTION_BY_KEY, TAB_BY_KEY, type ConfirmedAction} from '../model/table-state.js';
import {EventsTab} from './events-tab.js';
import {useKeys} from './hooks.js';
import {LogsTab} from './logs-tab.js';
import {ManifestTab} from './manifest-tab.js';
import {allowHint, isAllowed, usePage} from './page-context.js';
import {ShellTab} from './shell-tab.js';
import {StateText} from './small-parts.js';
import {StatusTab} from './status-tab.js';
import type {TabProps} from './tab-props.js';
import {TimelineTab} from './timeline-tab.js';

type PodRoute = Extract<Route, {readonly view: 'pod'}>;

const TABS: Readonly<Record<PodTab, readonly [title: string, view: (props: TabProps) => JSX.Element]>> = {
  status: ['Status', StatusTab],
  logs: ['Logs', LogsTab],
  events: ['Events', EventsTab],
  timeline: ['Timeline', TimelineTab],
  manifest: ['Manifest', ManifestTab],
  shell: ['Shell', ShellTab],
};

/** All about a pod. */
export function PodPage({route}: {readonly route: PodRoute}): JSX.Element {
  const {model, go, ask} = usePage();
  const pod = model.pods.get(route.key);
  const openTab = (tab: PodTab): void => go({...route, tab});
  useKeys((key) => {
    if (key === 'Escape' || key === 'q') go({view: 'pods'});
    const tab = TAB_BY_KEY[key];
    if (tab !== undefined) openTab(tab);
    const action = ACTION_BY_KEY[key];
    if (action !== undefined && pod !== undefined) ask(action, {key: pod.key, pod});
    return key === 'Escape' || key === 'q' || tab !== undefined || action !== undefined;
  });
  if (pod === undefined)
    return (
      <div class="startup">
        <h1>This pod does not exist any more</h1>
        <a href="#/">Back to the pods</a>
      </div>
    );
  const [, View] = TABS[route.tab];
  return (
    <>
      <PodHeader pod={pod} />
      <TabList current={route.tab} onOpen={openTab} />
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${route.tab}`} class="tab-panel">
        <View
          key={route.tab}
          pod={pod}
          container={route.container}
          onContainer={(name) =>
            location.replace(
              formatRoute({
                view: 'pod',
                key: route.key,
                tab: route.tab,
                ...(name !== undefined && {container: name}),
              }),
            )
          }
        />
      </div>
    </>
  );
}

function PodHeader({pod}: {readonly pod: UiPod}): JSX.Element {
  const {model} = usePage();
  return (
    <div class="page-header">
      <h1 class="break">
        <span class="muted">{nameText(pod.namespace)}/</span>
        {nameText(pod.name)}
      </h1>
      <p class="facts">
        <StateText row={pod} />
        <span>{pod.ready} ready</span>
        <span>{pod.restarts === 1 ? '1 restart' : `${pod.restarts} restarts`}</span>
        <span>{ageText(pod.startedMs, model.nowMs)} old</span>
        <span>
          node <a href={formatRoute({view: 'node', key: `node ${pod.node}`})}>{nameText(pod.node)}</a>
        </span>
        <span>manager {pod.manager}</span>
      </p>
      <div class="actions">
        <ActionButton action="restart" pod={pod} />
        <ActionButton action="delete" pod={pod} />
      </div>
    </div>
  );
}

function ActionButton({action, pod}: {readonly action: ConfirmedAction; readonly pod: UiPod}): JSX.Element {
  const page = usePage();
  const hint = isAllowed(page, action) ? undefined : allowHint(action);
  return (
    <button
      type="button"
      class={action === 'delete' ? 'danger' : ''}
      aria-disabled={hint !== undefined}
      title={hint}
      onClick={() => page.ask(action, {key: pod.key, pod})}
    >
      {action === 'restart' ? 'Restart' : 'Delete'}
    </button>
  );
}

function TabList({
  current,
  onOpen,
}: {
  readonly current: PodTab;
  readonly onOpen: (tab: PodTab) => void;
}): JSX.Element {
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const next = POD_TABS[(POD_TABS.indexOf(current) + step + POD_TABS.length) % POD_TABS.length];
    if (step === 0 || next === undefined) return;
    onOpen(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div role="tablist" aria-label="Parts of the pod" class="tabs" onKeyDown={move}>
      {POD_TABS.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          aria-selected={tab === current}
          aria-controls="tab-panel"
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onOpen(tab)}
        >
          {TABS[tab][0]}
        </button>
      ))}
    </div>
  );
}
