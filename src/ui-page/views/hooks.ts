import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {keepLoading, type Loaded} from '../net/keep-loading.js';
import {pageVisible} from '../net/page-visible.js';
import {formatRoute, parseRoute, type Route} from '../model/route.js';

/** Returns the route of the address, and a function that changes it. */
export function useRoute(): readonly [Route, (route: Route) => void] {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useLayoutEffect(() => {
    const read = (): void => setRoute(parseRoute(location.hash));
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return [route, (next) => location.assign(formatRoute(next))];
}

/**
 * Calls a handler for keys that are not typed into a field or meant for a control, until it is unmounted. The handler
 * returns true for keys that it has used.
 */
export function useKeys(handler: (key: string) => boolean): void {
  const latest = useRef(handler);
  latest.current = handler;
  // A key that is pressed when the view is visible must not be lost.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isForControl(event) || document.querySelector('dialog[open]') !== null) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

/** Calls the first handler before each click is handled, until it is unmounted. */
export function useBeforeClick(handler: () => void): void {
  useLayoutEffect(() => {
    document.addEventListener('click', handler, true);
    return () => document.removeEventListener('click', handler, true);
  }, []);
}

function isForControl({target, key}: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('input, textarea, select, .terminal') !== null) return true;
  if (key === 'Enter' || key === ' ') return target.closest('a, button, summary') !== null;
  return key.startsWith('Arrow') && target.closest('[role="tablist"]') !== null;
}

/**
 * Reads a value now, when `changes` differ, and, if `isLive`, again and again while the page is visible. What was read for
 * another `identity` is not shown.
 */
export function useLoaded<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  {
    identity,
    changes = '',
    isLive = false,
  }: {readonly identity: string; readonly changes?: string; readonly isLive?: boolean},
): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value> & {readonly identity: string}>({identity});
  useEffect(() => {
    const controller = new AbortController();
    const set = (result: Loaded<Value>): void =>
      setLoaded((before) =>
        result.error !== undefined && before.identity === identity && before.value !== undefined
          ? {...before, error: result.error}
          : {...result, identity},
      );
    void keepLoading(read, {isLive, set, isVisible: pageVisible, signal: controller.signal});
    return () => controller.abort();
  }, [identity, changes, isLive]);
  return loaded.identity === identity ? loaded : {};
}
