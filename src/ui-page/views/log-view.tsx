import type {JSX, RefObject} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';
import {LogLines} from './log-lines.js';
import {ErrorText} from './small-parts.js';
import type {Log} from './use-log.js';

/** Text of a log, scrolled to its end while that is followed. */
export function LogView({
  viewRef,
  log,
  search,
  follow,
  onFollow,
  onRetry,
}: {
  readonly viewRef: RefObject<HTMLDivElement>;
  readonly log: Log;
  readonly search: string;
  readonly follow: boolean;
  readonly onFollow: (follow: boolean) => void;
  readonly onRetry: () => void;
}): JSX.Element {
  const lastTop = useRef(0);
  useLayoutEffect(() => {
    if (follow) viewRef.current?.scrollTo(0, viewRef.current.scrollHeight);
  }, [log, follow]);
  return (
    <div
      ref={viewRef}
      class="log"
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Log"
      onScroll={({currentTarget: {scrollHeight, scrollTop, clientHeight}}) => {
        // Lines at the end move the text too: only scrolling up stops following.
        const isUp = scrollTop < lastTop.current;
        lastTop.current = scrollTop;
        if (isUp) onFollow(false);
        else if (scrollHeight - scrollTop - clientHeight < 4) onFollow(true);
      }}
    >
      {log.dropped > 0 && <p class="muted">{log.dropped} older lines are not kept</p>}
      <LogLines log={log} search={search} />
      {log.error !== undefined && <ErrorText error={log.error} />}
      {log.hasEnded && (
        <p class="muted">
          {log.lines.length === 0 && log.rest === '' ? 'No output. ' : 'The log has ended. '}
          <button type="button" class="link" onClick={onRetry}>
            Read again
          </button>
        </p>
      )}
    </div>
  );
}
