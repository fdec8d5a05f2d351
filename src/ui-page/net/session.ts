import type {Session, SessionRequest} from '../../features/ui/protocol.js';
import {readAnswer} from './read-answer.js';

/** Name of the session in sessionStorage, which only this tab and this origin, with its port, can read. */
const STORED = 'kcri.session';

/**
 * Returns the session of the one-time token in the address, which it removes from there, or that of the tab; undefined
 * if there is neither. Rejects with RequestError if the token is not accepted and the tab has no session.
 */
export async function openSession(): Promise<Session | undefined> {
  const token = takeToken();
  const stored = readStored();
  if (token === undefined) return stored;
  try {
    const body: SessionRequest = {token};
    const response = await fetch('api/session', {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify(body),
    });
    const session = await readAnswer<Session>(response);
    sessionStorage.setItem(STORED, JSON.stringify(session));
    return session;
  } catch (error) {
    // A link that is opened again in its tab has lost its token, but the session goes on.
    if (stored !== undefined) return stored;
    throw error;
  }
}

/** Forgets the session of the tab. */
export function forgetSession(): void {
  sessionStorage.removeItem(STORED);
}

/** Returns the token in the address, and removes it from there: it must not be copied with the address. */
function takeToken(): string | undefined {
  const [, token] = /^#token=([^&]+)$/.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, '', `${location.pathname}#/`);
  return token;
}

function readStored(): Session | undefined {
  const text = sessionStorage.getItem(STORED);
  return text === null ? undefined : (JSON.parse(text) as Session);
}
