import type {JSX} from 'preact';
import {useCallback, useMemo, useState} from 'preact/hooks';
import type {TableRow} from '../model/arrange.js';
import type {Route} from '../model/route.js';
import {INITIAL_TABLE, type ConfirmedAction, type TableState} from '../model/table-state.js';
import type {Api} from '../net/api.js';
import {ConfirmDialog} from './confirm-dialog.js';
import {HelpDialog} from './help-dialog.js';
import {useBeforeClick, useKeys, useRoute} from './hooks.js';
import {LinkBanner} from './link-banner.js';
import {NodePage} from './node-page.js';
import {allowHint, PageProvider, type PageContext} from './page-context.js';
import {PodPage} from './pod-page.js';
import {PodsPage} from './pods-page.js';
import {SessionEnded} from './session-ended.js';
import {TopBar} from './top-bar.js';
import {useLive} from './use-live.js';

/** The whole page of a session. */
export function App({api}: {readonly api: Api}): JSX.Element {
  const {model, history, link} = useLive(api);
  const [route, go] = useRoute();
  const [table, setTable] = useState(INITIAL_TABLE);
  const [hasHelp, setHasHelp] = useState(false);
  const [question, setQuestion] = useState<{readonly action: ConfirmedAction; readonly row: TableRow}>();
  const [notice, setNotice] = useState('');
  const ask = useCallback((action: ConfirmedAction, row: TableRow) => {
    if (api.session.allowed.includes(action)) setQuestion({action, row});
    else setNotice(allowHint(action));
  }, []);
  useKeys((key) => {
    setNotice('');
    if (key !== '?' && key !== 'h') return false;
    setHasHelp(true);
    return true;
  });
  useBeforeClick(() => setNotice(''));
  const page = useMemo<PageContext | undefined>(
    () => model && {api, model, history, go, ask},
    [api, model, history, ask],
  );
  if (link.kind === 'ended') return <SessionEnded reason={link.reason} />;
  return (
    <>
      <SkipLink />
      <TopBar
        route={route}
        model={model}
        link={link}
        version={api.session.version}
        onHelp={() => setHasHelp(true)}
      />
      <LinkBanner link={link} />
      <main id="content" tabIndex={-1}>
        {page === undefined ? (
          <p class="muted startup">Reading the nodes…</p>
        ) : (
          <PageProvider value={page}>
            <View route={route} table={table} setTable={setTable} />
            {question !== undefined && (
              <ConfirmDialog
                {...question}
                onDone={(text) => {
                  setQuestion(undefined);
                  setNotice(text);
                }}
              />
            )}
          </PageProvider>
        )}
      </main>
      {hasHelp && <HelpDialog onClose={() => setHasHelp(false)} />}
      <p class="notice" role="status">
        {notice}
      </p>
    </>
  );
}

function View({
  route,
  table,
  setTable,
}: {
  readonly route: Route;
  readonly table: TableState;
  readonly setTable: (change: (before: TableState) => TableState) => void;
}): JSX.Element {
  switch (route.view) {
    case 'pods':
      return <PodsPage table={table} setTable={setTable} />;
    case 'pod':
      return <PodPage key={route.key} route={route} />;
    case 'node':
      return <NodePage key={route.key} nodeKey={route.key} />;
  }
}

function SkipLink(): JSX.Element {
  return (
    <a class="skip" href="#content" onClick={focusContent}>
      Skip to content
    </a>
  );
}

/** Moves the focus, since the address names the view. */
function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
