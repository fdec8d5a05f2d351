import type {JSX, RefObject} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {ContainerChoice} from './container-choice.js';
import {useKeys} from './hooks.js';
import {LogView} from './log-view.js';
import {usePage} from './page-context.js';
import {useLog} from './use-log.js';
import type {TabProps} from './tab-props.js';

/** Number of lines from the end with which a log starts. */
const TAIL = 1000;

/** Log of a pod or a container, whose end is followed until the text is scrolled up. */
export function LogsTab({pod, container, onContainer}: TabProps): JSX.Element {
  const {api} = usePage();
  const [previous, setPrevious] = useState(false);
  const [search, setSearch] = useState('');
  const [follow, setFollow] = useState(true);
  const [attempt, setAttempt] = useState(0);
  const retry = (): void => setAttempt(attempt + 1);
  const restarts = pod.containers.reduce((sum, each) => sum + each.restarts, 0);
  const readRestarts = useRef(restarts);
  const log = useLog(
    api,
    {key: pod.key, container, previous, tail: TAIL},
    {follow, attempt: String(attempt)},
  );
  const view = useRef<HTMLDivElement>(null);
  const searchInput = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The log of a container that has ended goes on in the next one.
    if (!log.hasEnded || previous || readRestarts.current === restarts) return;
    readRestarts.current = restarts;
    retry();
  }, [log.hasEnded, restarts]);
  const step = useSearchSteps(view, search);
  const move = (direction: 1 | -1): void => {
    setFollow(false);
    step(direction);
  };
  useKeys((key) => {
    if (key === 'f') setFollow(!follow);
    else if (key === '/') searchInput.current?.focus();
    else if (key === 'n' || key === 'N') move(key === 'n' ? 1 : -1);
    else return false;
    return true;
  });
  return (
    <>
      <div class="tool-bar">
        <ContainerChoice pod={pod} container={container} onContainer={onContainer} hasAll />
        <label class="check">
          <input type="checkbox" checked={previous} onInput={() => setPrevious(!previous)} />
          Previous
        </label>
        <SearchInput inputRef={searchInput} search={search} onSearch={setSearch} onMove={move} />
        <button type="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
          {follow ? 'Following' : 'Paused'}
        </button>
      </div>
      <LogView
        viewRef={view}
        log={log}
        search={search}
        follow={follow}
        onFollow={setFollow}
        onRetry={retry}
      />
    </>
  );
}

function SearchInput({
  inputRef,
  search,
  onSearch,
  onMove,
}: {
  readonly inputRef: RefObject<HTMLInputElement>;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly onMove: (direction: 1 | -1) => void;
}): JSX.Element {
  return (
    <input
      ref={inputRef}
      type="search"
      aria-label="Search in the log"
      placeholder="Search"
      value={search}
      onInput={({currentTarget: {value}}) => onSearch(value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onMove(event.shiftKey ? -1 : 1);
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}

/** Returns a function that scrolls to the next or previous match. */
function useSearchSteps(
  view: {readonly current: HTMLElement | null},
  search: string,
): (direction: 1 | -1) => void {
  const index = useRef<number>();
  useEffect(() => {
    index.current = undefined;
  }, [search]);
  return (direction) => {
    const marks = Array.from(view.current?.querySelectorAll('mark') ?? []);
    if (marks.length === 0) return;
    const before = index.current ?? (direction === 1 ? -1 : marks.length);
    index.current = (before + direction + marks.length) % marks.length;
    for (const mark of marks) mark.classList.remove('current');
    const mark = marks[index.current];
    mark?.classList.add('current');
    mark?.scrollIntoView({block: 'center'});
  };
}
