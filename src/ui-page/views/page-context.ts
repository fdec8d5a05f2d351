import {createContext} from 'preact';
import {useContext} from 'preact/hooks';
import type {UiAction} from '../../features/ui/protocol.js';
import type {TableRow} from '../model/arrange.js';
import type {LiveModel} from '../model/live-model.js';
import type {Route} from '../model/route.js';
import type {ConfirmedAction} from '../model/table-state.js';
import type {UsageHistory} from '../model/usage-history.js';
import type {Api} from '../net/api.js';

/** What all views need. */
export interface PageContext {
  readonly api: Api;
  readonly model: LiveModel;
  readonly history: UsageHistory;
  readonly go: (route: Route) => void;
  /** Asks before an action, or says why it is not allowed. */
  readonly ask: (action: ConfirmedAction, row: TableRow) => void;
}

const Context = createContext<PageContext | undefined>(undefined);

export const PageProvider = Context.Provider;

/** Returns what all views need. Throws outside of the page. */
export function usePage(): PageContext {
  const context = useContext(Context);
  if (context === undefined) throw new Error('a view is outside of the page');
  return context;
}

/** Reports whether the server permits an action. */
export function isAllowed({api}: PageContext, action: UiAction): boolean {
  return api.session.allowed.includes(action);
}

/** Returns how to permit an action. */
export function allowHint(action: UiAction): string {
  return `Not allowed: run "kcri ui --allow=${action}"`;
}
