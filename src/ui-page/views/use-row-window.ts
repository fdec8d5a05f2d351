import {useEffect, useLayoutEffect, useState} from 'preact/hooks';
import {rowWindow, type RowWindow} from '../model/row-window.js';

/** Returns which rows of a table to render while the page scrolls, and their height in pixels. */
export function useRowWindow(
  body: {readonly current: HTMLElement | null},
  count: number,
): RowWindow & {readonly rowHeight: number} {
  const [shown, setShown] = useState({first: 0, end: Math.min(count, 60), rowHeight: 36});
  const measure = (): void => {
    if (body.current === null) return;
    const rowHeight = Number.parseFloat(getComputedStyle(body.current).getPropertyValue('--row-height'));
    const top = -body.current.getBoundingClientRect().top;
    const next = rowWindow(count, {top, height: window.innerHeight, rowHeight});
    setShown((before) =>
      before.first === next.first && before.end === next.end && before.rowHeight === rowHeight
        ? before
        : {...next, rowHeight},
    );
  };
  useLayoutEffect(measure, [count]);
  useEffect(() => {
    window.addEventListener('scroll', measure, {passive: true});
    window.addEventListener('resize', measure);
    return () => {
      window.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
    };
  }, [count]);
  // Rows may be gone since the last measurement.
  return {...shown, first: Math.min(shown.first, count), end: Math.min(shown.end, count)};
}
