import type {CommandContext} from '../../cli/command/contexts.js';
import type {OutputFormat} from '../../cli/output/output-format.js';
import {formatSorted} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {GrowingTable} from '../../format/growing-table.js';
import type {Column} from '../../format/table.js';
import {NotFoundError} from '../../operations/resolve/target.js';
import {missingEverywhere} from '../nodes/missing-everywhere.js';
import {queryEachNode, type NodeOutcome} from '../nodes/query-all-nodes.js';
import {answersJson, areWrong, commandPrefix, shown, type Answers, type WHY_FORMATS} from './answer.js';
import {answersLine, answersText} from './answer-text.js';

/** Answers about one node, and the errors of words that name nothing on it. */
interface NodeAnswers {
  readonly answers: Answers;
  readonly missing: readonly NotFoundError[];
}

type Outcome = NodeOutcome<NodeAnswers>;

/**
 * Asks several nodes at once. Prints a table with the answer of each, and then the answers in full where something is wrong. A
 * word only has to name something on one of the nodes. The exit code is the worst.
 */
export async function answerNodes(
  services: CommandContext,
  form: OutputFormat<(typeof WHY_FORMATS)[number]>,
  ask: (node: CommandContext, onMissing: (error: NotFoundError) => void) => Promise<Answers>,
): Promise<void> {
  const {out, report} = services;
  const outcomes = await queryEachNode(services, async (node) => await collectMissing(node, ask));
  if (form.kind === 'table') {
    out.printText(new GrowingTable(COLUMNS, {header: true}).text(outcomes));
    out.printText(outcomes.map(detailsText).join(''));
  } else {
    const nodes = outcomes.map(outcomeJson);
    out.printData((await formatSorted(form, {nodes})).replace(/\n\n$/, '\n'));
  }
  const missing = missingEverywhere(
    outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result.value.missing] : [])),
  );
  if (missing.length > 0 || outcomes.some((outcome) => 'error' in outcome))
    report.setExitCode(EXIT.notDiagnosed);
  for (const error of missing) report.fail(error);
  const isWrong = outcomes.some((outcome) => 'result' in outcome && areWrong(outcome.result.value.answers));
  if (isWrong) report.setExitCode(EXIT.failed);
}

async function collectMissing(
  node: CommandContext,
  ask: (node: CommandContext, onMissing: (error: NotFoundError) => void) => Promise<Answers>,
): Promise<NodeAnswers> {
  const missing: NotFoundError[] = [];
  try {
    const answers = await ask(node, (error) => missing.push(error));
    return {answers, missing};
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return {answers: {node: undefined, pods: [], count: 0}, missing: [error]};
  }
}

const nameOf = (outcome: Outcome): string => ('result' in outcome ? outcome.result.node : outcome.node);

const COLUMNS: readonly Column<Outcome>[] = [
  {header: 'NODE', value: nameOf},
  {
    header: 'ANSWER',
    value: (outcome) =>
      'result' in outcome ? answersLine(outcome.result.value.answers) : shown(outcome.error.plainMessage),
  },
];

function detailsText(outcome: Outcome): string {
  const title = `\nnode ${shown(nameOf(outcome))}\n`;
  if ('error' in outcome) {
    const {hint} = outcome.error;
    return hint === undefined ? '' : `${title}${shown(`hint: ${hint}`)}\n`;
  }
  const {value, services} = outcome.result;
  if (!areWrong(value.answers)) return '';
  const pods = value.answers.pods.filter(({findings}) => findings.length > 0);
  const text = answersText({...value.answers, pods}, commandPrefix(services));
  // The answer about a node begins with its name.
  return value.answers.node === undefined ? title + text : `\n${text}`;
}

function outcomeJson(outcome: Outcome) {
  const node = nameOf(outcome);
  if ('error' in outcome) return {name: node, error: outcome.error.plainMessage};
  const {value, services} = outcome.result;
  return {name: node, wrong: areWrong(value.answers), ...answersJson(value.answers, commandPrefix(services))};
}
