import type {JSX} from 'preact';
import {useState} from 'preact/hooks';
import {titleOf, type TableRow} from '../model/arrange.js';
import {nameText} from '../model/format.js';
import type {ConfirmedAction} from '../model/table-state.js';
import {Dialog} from './dialog.js';
import {usePage} from './page-context.js';
import {ErrorText} from './small-parts.js';

const TEXTS = {
  restart: {verb: 'Restart', done: 'Restarted'},
  delete: {verb: 'Delete', done: 'Deleted'},
} as const;

/** Asks before an action and runs it. `onDone` gets what was done; an empty text if nothing was. */
export function ConfirmDialog({
  action,
  row,
  onDone,
}: {
  readonly action: ConfirmedAction;
  readonly row: TableRow;
  readonly onDone: (text: string) => void;
}): JSX.Element {
  const {api} = usePage();
  const [isRunning, setIsRunning] = useState(false);
  const [error, setError] = useState<Error>();
  const {verb, done} = TEXTS[action];
  const name = nameText(titleOf(row));
  const kind = row.container === undefined ? 'pod' : 'container';
  const run = async (): Promise<void> => {
    setIsRunning(true);
    try {
      await api.act(action, row.key);
      onDone(`${done} ${name}`);
    } catch (reason) {
      setError(reason instanceof Error ? reason : new Error(String(reason)));
      setIsRunning(false);
    }
  };
  return (
    <Dialog title={`${verb} ${kind}?`} onClose={() => onDone('')}>
      <p class="break">
        {name} on {nameText(row.pod.node)}
      </p>
      {error !== undefined && <ErrorText error={error} />}
      <form method="dialog" class="dialog-buttons">
        <button>Cancel</button>
        <button type="button" class="danger" disabled={isRunning} onClick={() => void run()}>
          {isRunning ? `${verb}…` : verb}
        </button>
      </form>
    </Dialog>
  );
}
