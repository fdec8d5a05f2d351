import type {JSX} from 'preact';
import {nameText} from '../model/format.js';

/** What is shown without a session: how to get a new link. */
export function SessionEnded({reason}: {readonly reason?: string | undefined}): JSX.Element {
  return (
    <main class="startup">
      <h1>This session has ended</h1>
      {reason !== undefined && <p class="error">{nameText(reason)}</p>}
      <p>
        Run <code>kcri ui</code> again, or press Enter in its terminal for a new link. A link works once.
      </p>
    </main>
  );
}
