import type {Session, UiAction} from '../protocol.js';
import {RequestError} from '../server/request-error.js';
import type {Sessions} from '../server/sessions.js';
import type {UiRoute} from '../server/ui-request.js';

/** Returns the route that exchanges the token of a link for the key of a session. */
export function sessionRoute(
  sessions: Sessions,
  {version, allowed}: {readonly version: string; readonly allowed: readonly UiAction[]},
): UiRoute {
  return {
    method: 'POST',
    path: '/api/session',
    isOpen: true,
    handle: async ({body: {token}}) => {
      const key = typeof token === 'string' ? sessions.redeem(token) : undefined;
      if (key === undefined)
        throw new RequestError(
          401,
          'the link was used before, or has expired',
          'press Enter in the terminal of kcri ui for a new one, or start it again',
        );
      const session: Session = {key, version, allowed};
      return await Promise.resolve({kind: 'json', value: session});
    },
  };
}
