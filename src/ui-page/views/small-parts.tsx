import type {ComponentChildren, JSX} from 'preact';
import type {UiRow} from '../../features/ui/protocol.js';
import {nameText, shareOf} from '../model/format.js';
import {sparklinePaths} from '../model/sparkline.js';
import type {Loaded} from '../net/keep-loading.js';

/** State of a pod or container, with a mark in its color. */
export function StateText({row: {state, tone}}: {readonly row: Pick<UiRow, 'state' | 'tone'>}): JSX.Element {
  return (
    <span class={`state ${tone}`}>
      <span class="mark" aria-hidden="true" />
      {nameText(state)}
    </span>
  );
}

/** Small chart of recent numbers. Screen readers read the number beside it. */
export function Sparkline({
  numbers,
  max,
  count = 60,
}: {
  readonly numbers: readonly (number | null)[];
  /** Number at the upper edge; the highest one unless given. */
  readonly max?: number | undefined;
  readonly count?: number;
}): JSX.Element {
  const [width, height] = [100, 24];
  const top = max ?? Math.max(...numbers.map((number) => number ?? 0), 0.1);
  const {line, area} = sparklinePaths(numbers.slice(-count), {width, height, max: top, count});
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="area" d={area} />
      <path class="line" d={line} />
    </svg>
  );
}

/** Bar that shows how much of something is used. Screen readers read the text beside it. */
export function Bar({part, whole}: {readonly part: number; readonly whole: number}): JSX.Element {
  const share = shareOf(part, whole);
  return (
    <span class={share > 90 ? 'bar full' : 'bar'} aria-hidden="true">
      <span style={{width: `${share}%`}} />
    </span>
  );
}

/** What was loaded, or why not; a note until then. */
export function LoadedView<Value>({
  loaded: {value, error},
  children,
}: {
  readonly loaded: Loaded<Value>;
  readonly children: (value: Value) => ComponentChildren;
}): JSX.Element {
  return (
    <>
      {error !== undefined && <ErrorText error={error} />}
      {value !== undefined ? children(value) : error === undefined && <p class="muted">Reading…</p>}
    </>
  );
}

/** Error with its hint. */
export function ErrorText({
  error,
}: {
  readonly error: Error & {readonly hint?: string | undefined};
}): JSX.Element {
  return (
    <p class="error" role="alert">
      {nameText(error.message)}
      {error.hint !== undefined && <span class="hint">{nameText(error.hint)}</span>}
    </p>
  );
}
