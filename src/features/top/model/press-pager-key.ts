import {editText} from './edit-text.js';
import {findNext, scrollBy, firstLine, lastTop, type Pager, type PagerArea} from './pager.js';
import {pagerArea, type KeyResult, type TopState} from './top-state.js';

/** Cells by which the arrow keys move lines that are not wrapped. */
const SIDE_STEP = 10;

/** Returns the state after a key in a pager, and its effect. */
export function pressPagerKey(state: TopState, pager: Pager, key: string): KeyResult {
  const area = pagerArea(state.size);
  if (pager.typed !== undefined)
    return {state: {...state, screen: typeSearch(pager, pager.typed, key, area)}};
  if (key === 'ESCAPE' && pager.search !== '')
    return {state: {...state, screen: {...pager, search: '', match: undefined}}};
  if (key === 'q' || key === 'ESCAPE')
    return {state: {...state, screen: {kind: 'table'}}, effect: {kind: 'close'}};
  return {state: {...state, screen: scroll(pager, key, area) ?? change(pager, key, area)}};
}

function scroll(pager: Pager, key: string, area: PagerArea): Pager | undefined {
  const page = Math.max(area.height - 1, 1);
  const steps: Readonly<Record<string, number>> = {
    UP: -1,
    k: -1,
    DOWN: 1,
    j: 1,
    ENTER: 1,
    PAGE_UP: -page,
    CTRL_B: -page,
    b: -page,
    PAGE_DOWN: page,
    CTRL_F: page,
    ' ': page,
    HOME: -Infinity,
    g: -Infinity,
    END: Infinity,
    G: Infinity,
  };
  const step = steps[key];
  return step === undefined ? undefined : scrollBy(pager, step, area);
}

function change(pager: Pager, key: string, area: PagerArea): Pager {
  switch (key) {
    case 'w':
      return {...pager, wrap: !pager.wrap, left: 0, top: firstLine(pager, area)};
    case 'f':
      return {...pager, follow: pager.view === 'logs' && !pager.follow, top: lastTop(pager, area)};
    case 'LEFT':
      return {...pager, left: Math.max(pager.left - SIDE_STEP, 0)};
    case 'RIGHT':
      return {...pager, left: pager.wrap ? 0 : pager.left + SIDE_STEP};
    case '/':
      return {...pager, typed: ''};
    case 'n':
      return findNext(pager, 1, area);
    case 'N':
      return findNext(pager, -1, area);
    default:
      return pager;
  }
}

function typeSearch(pager: Pager, typed: string, key: string, area: PagerArea): Pager {
  if (key === 'ESCAPE') return {...pager, typed: undefined};
  if (key !== 'ENTER') return {...pager, typed: editText(typed, key)};
  return findNext({...pager, typed: undefined, search: typed, match: undefined}, 1, area);
}
