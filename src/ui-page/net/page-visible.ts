import {waitFor} from './waiting.js';

/** Resolves when the page is visible, or when the signal is aborted. */
export async function pageVisible(signal: AbortSignal): Promise<void> {
  await waitFor(signal, (done) => {
    const check = (): void => {
      if (document.visibilityState === 'visible') done();
    };
    document.addEventListener('visibilitychange', check);
    check();
    return () => document.removeEventListener('visibilitychange', check);
  });
}
