import {render} from 'preact';
import {Api} from './net/api.js';
import {openSession} from './net/session.js';
import {followTheme} from './net/theme.js';
import {App} from './views/app.js';
import {SessionEnded} from './views/session-ended.js';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
followTheme();
await start(root);

/** Shows the page, or how to get a link for it. */
async function start(element: HTMLElement): Promise<void> {
  let reason: string | undefined;
  try {
    const session = await openSession();
    if (session !== undefined) {
      element.replaceChildren();
      render(<App api={new Api(session)} />, element);
      return;
    }
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  element.replaceChildren();
  render(<SessionEnded reason={reason} />, element);
}
