import type {JSX} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {nameText} from '../model/format.js';
import type {LinkState} from '../net/live-link.js';

/** Says why nothing is live, and when the connection is tried again. */
export function LinkBanner({link}: {readonly link: LinkState}): JSX.Element | null {
  const [nowMs, setNowMs] = useState(Date.now());
  const isWaiting = link.kind === 'waiting';
  useEffect(() => {
    if (!isWaiting) return undefined;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isWaiting, link]);
  if (!isWaiting) return null;
  const seconds = Math.max(Math.ceil((link.retryAtMs - nowMs) / 1000), 0);
  return (
    <p class="banner">
      <strong>Not live:</strong> {nameText(link.reason)}.{' '}
      {seconds === 0 ? 'Connecting again…' : `Next attempt in ${seconds} s.`}
    </p>
  );
}
