import {Chalk, type ChalkInstance} from 'chalk';
import type {CommandContext} from '../../cli/command/contexts.js';
import type {OutputFormat} from '../../cli/output/output-format.js';
import {formatSorted} from '../../cli/output/parse-output-format.js';
import {GrowingTable} from '../../format/growing-table.js';
import type {Column} from '../../format/table.js';
import {commandPrefix, shown} from '../why/answer.js';
import {queryEachNode, type NodeOutcome} from '../nodes/query-all-nodes.js';
import type {CheckResult, Result} from './check.js';
import {problemsText} from './doctor-text.js';
import {EXIT_CODES, resultJson, type DOCTOR_FORMATS} from './doctor-output.js';
import {worstOf} from './run-checks.js';

type Outcome = NodeOutcome<readonly CheckResult[]>;

/**
 * Examines several nodes at once. Prints a table with a line about each, and then what is not ok. The exit code is the worst; a
 * node that cannot be reached counts as a failure.
 */
export async function examineNodes(
  services: CommandContext,
  form: OutputFormat<(typeof DOCTOR_FORMATS)[number]>,
  examine: (node: CommandContext) => Promise<readonly CheckResult[]>,
): Promise<void> {
  const {out, report} = services;
  const outcomes = await queryEachNode(services, examine);
  if (form.kind === 'table') {
    out.printText(new GrowingTable(COLUMNS, {header: true}).text(outcomes));
    const chalk = new Chalk({level: out.colors ? 1 : 0});
    out.stdout.write(outcomes.map((outcome) => detailsText(outcome, chalk)).join(''));
  } else {
    const nodes = outcomes.map(outcomeJson);
    out.printData((await formatSorted(form, {nodes})).replace(/\n\n$/, '\n'));
  }
  report.setExitCode(Math.max(...outcomes.map((outcome) => EXIT_CODES[resultOf(outcome)])));
}

const nameOf = (outcome: Outcome): string => ('result' in outcome ? outcome.result.node : outcome.node);
const resultsOf = (outcome: Outcome): readonly CheckResult[] =>
  'result' in outcome ? outcome.result.value : [];
const resultOf = (outcome: Outcome): Exclude<Result, 'skipped'> =>
  'result' in outcome ? worstOf(outcome.result.value) : 'failure';

function countOf(outcome: Outcome, wanted: Result): number {
  return resultsOf(outcome).filter(({result}) => result === wanted).length;
}

const count = (header: string, wanted: Result): Column<Outcome> => ({
  header,
  value: (outcome) => ('result' in outcome ? String(countOf(outcome, wanted)) : '-'),
});

const COLUMNS: readonly Column<Outcome>[] = [
  {header: 'NODE', value: nameOf},
  {header: 'RESULT', value: resultOf},
  count('OK', 'ok'),
  count('WARNINGS', 'warning'),
  count('FAILURES', 'failure'),
  count('SKIPPED', 'skipped'),
  {header: 'WORST FINDING', value: worstFinding},
];

/** Returns the first failure, or else the first warning, or why the node cannot be examined. */
function worstFinding(outcome: Outcome): string {
  if ('error' in outcome) return outcome.error.plainMessage;
  const results = resultsOf(outcome);
  const worst =
    results.find(({result}) => result === 'failure') ?? results.find(({result}) => result === 'warning');
  return worst === undefined ? '' : shown(`${worst.id}: ${worst.message}`);
}

function detailsText(outcome: Outcome, chalk: ChalkInstance): string {
  const title = `\n${chalk.bold(shown(`node ${nameOf(outcome)}`))}\n`;
  if ('error' in outcome) {
    const {plainMessage, hint} = outcome.error;
    return `${title}${shown(plainMessage)}\n${hint === undefined ? '' : `${shown(`hint: ${hint}`)}\n`}`;
  }
  if (resultOf(outcome) === 'ok') return '';
  const prefix = commandPrefix(outcome.result.services);
  return title + problemsText(resultsOf(outcome), {chalk, prefix});
}

function outcomeJson(outcome: Outcome) {
  const [node, result] = [nameOf(outcome), resultOf(outcome)];
  if ('error' in outcome) return {node, result, error: outcome.error.plainMessage};
  const prefix = commandPrefix(outcome.result.services);
  return {
    ...{node, result},
    ok: countOf(outcome, 'ok'),
    warnings: countOf(outcome, 'warning'),
    failures: countOf(outcome, 'failure'),
    skipped: countOf(outcome, 'skipped'),
    items: resultsOf(outcome).map((each) => resultJson(each, prefix)),
  };
}
