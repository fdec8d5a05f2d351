import type {JSX} from 'preact';
import {Dialog} from './dialog.js';

/** Keys and what they do, by topic. Letters are those of `kcri top`. */
const KEYS: readonly (readonly [
  topic: string,
  keys: readonly (readonly [keys: readonly string[], text: string])[],
])[] = [
  [
    'Rows',
    [
      [['↑', '↓', 'k', 'j'], 'select a row'],
      [['PgUp', 'PgDn'], 'move by a page'],
      [['Home', 'End', 'g', 'G'], 'select the first or last row'],
      [['→', '←'], 'show or hide the containers of a pod'],
      [['<', '>'], 'sort by the column to the left or right'],
      [['C', 'M', 'N', 'A', 'R', 'O'], 'sort by CPU, memory, name, age, restarts or node'],
      [['I'], 'reverse the order'],
      [['t'], 'tree of pods, or only containers'],
      [['/'], 'filter; Esc clears the filter'],
    ],
  ],
  [
    'Pod or container',
    [
      [['Enter'], 'open the pod, or the log of a container'],
      [['l'], 'logs'],
      [['e'], 'events'],
      [['d', 'w'], 'status, and why it is so'],
      [['s'], 'shell'],
      [['r'], 'restart; asks first'],
      [['x'], 'delete; asks first'],
      [['Esc', 'q'], 'back to the pods'],
    ],
  ],
  [
    'Logs',
    [
      [['f'], 'follow the end, or pause'],
      [['/', 'n', 'N'], 'search, next and previous match'],
    ],
  ],
];

/** Help about keys and filters. */
export function HelpDialog({onClose}: {readonly onClose: () => void}): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="keys">
        {KEYS.map(([topic, keys]) => (
          <section key={topic}>
            <h3>{topic}</h3>
            <dl>
              {keys.map(([names, text]) => (
                <div key={text}>
                  <dt>
                    {names.map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <h3>Filter</h3>
      <p>
        All words must be found, in any case. <code>state:</code>, <code>node:</code>, <code>manager:</code>,{' '}
        <code>namespace:</code> and <code>image:</code> search in one field: <code>web state:crash</code>.
      </p>
      <form method="dialog" class="dialog-buttons">
        <button>Close</button>
      </form>
    </Dialog>
  );
}
