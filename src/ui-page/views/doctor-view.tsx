import type {JSX} from 'preact';
import {useState} from 'preact/hooks';
import type {DoctorAnswer} from '../../features/ui/protocol.js';
import {nameText} from '../model/format.js';
import {useLoaded} from './hooks.js';
import {usePage} from './page-context.js';
import {LoadedView} from './small-parts.js';

type Check = DoctorAnswer['checks'][number];

/** Outcomes in the order in which they are shown, with how they are to be seen. */
const OUTCOMES = {failure: 'bad', warning: 'busy', skipped: 'done', ok: 'good'} as const;

/** Checks of `kcri doctor` on a node, filtered by a text and by outcome. */
export function DoctorView({nodeKey}: {readonly nodeKey: string}): JSX.Element {
  const {api} = usePage();
  const [attempt, setAttempt] = useState(0);
  const loaded = useLoaded((signal) => api.doctor(nodeKey, signal), {
    identity: nodeKey,
    changes: String(attempt),
  });
  return (
    <section aria-label="Doctor">
      <h2>
        Doctor{' '}
        <button type="button" class="link" onClick={() => setAttempt(attempt + 1)}>
          Check again
        </button>
      </h2>
      <LoadedView loaded={loaded}>{({checks}) => <Checks checks={checks} />}</LoadedView>
    </section>
  );
}

function Checks({checks}: {readonly checks: readonly Check[]}): JSX.Element {
  const [filter, setFilter] = useState('');
  const [hasAll, setHasAll] = useState(false);
  const shown = Object.keys(OUTCOMES).flatMap((outcome) =>
    checks.filter((check) => check.outcome === outcome && matches(check, filter)),
  );
  const problems = shown.filter(({outcome}) => outcome === 'failure' || outcome === 'warning');
  const visible = hasAll || filter !== '' ? shown : problems;
  return (
    <>
      <div class="tool-bar">
        <input
          type="search"
          aria-label="Filter the checks"
          placeholder="Filter the checks"
          value={filter}
          onInput={({currentTarget: {value}}) => setFilter(value)}
        />
        <label class="check">
          <input type="checkbox" checked={hasAll} onInput={() => setHasAll(!hasAll)} />
          Passed and skipped checks too
        </label>
        <span role="status">
          {problems.length === 0
            ? 'No problems'
            : `${problems.length} of ${shown.length} checks found problems`}
        </span>
      </div>
      <ul class="checks">
        {visible.map((check) => (
          <CheckItem key={check.id} check={check} />
        ))}
      </ul>
    </>
  );
}

function matches({id, title, details}: Check, filter: string): boolean {
  return [id, title, ...details].some((text) => text.toLowerCase().includes(filter.toLowerCase()));
}

function CheckItem({check: {outcome, title, details, remedy}}: {readonly check: Check}): JSX.Element {
  return (
    <li>
      <span class={`state ${OUTCOMES[outcome]}`}>
        <span class="mark" aria-hidden="true" />
        {outcome}
      </span>
      <div>
        <strong>{nameText(title)}</strong>
        {details.map((text) => (
          <p key={text}>{nameText(text)}</p>
        ))}
        {remedy !== undefined && <p class="hint">{remedy}</p>}
      </div>
    </li>
  );
}
