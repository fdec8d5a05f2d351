import {counted} from '../../base/counted.js';
import {adviceText, isWrong, shown, type Answer, type Answers} from './answer.js';
import type {Finding} from './finding.js';

/** Width of the labels. */
const LABEL_WIDTH = 11;

/** Formats answers for people: about the node with a line about each pod that is not well, or about pods in full. */
export function answersText({node, pods, count}: Answers, prefix: readonly string[]): string {
  if (node === undefined) return pods.map((answer) => answerText(answer, prefix)).join('\n');
  return [
    shown(`node ${node.name}  ${nodeState({node, pods, count})}`),
    ...node.findings.flatMap((finding) => findingLines(finding, prefix)),
    ...pods.filter(isWrong).map(answerLine),
    '',
  ].join('\n');
}

function nodeState({node, pods, count}: Answers): string {
  const wrong = pods.filter(isWrong);
  const counts = `${counted(count, 'pod')}, ${wrong.length === 0 ? 'all well' : `${wrong.length} not well`}`;
  return (node?.findings ?? []).length === 0 ? counts : `not well; ${counts}`;
}

/** Returns the answers about one of several nodes on one line: the state of the node or of the pods, and the first cause. */
export function answersLine(answers: Answers): string {
  const {node, pods} = answers;
  const wrong = pods.filter(isWrong);
  const [first, ...rest] = wrong.length > 0 ? wrong : pods;
  if (node !== undefined) {
    const cause = node.findings[0]?.cause ?? (wrong.length === 0 ? undefined : first && answerLine(first));
    return shown(nodeState(answers) + (cause === undefined ? '' : `: ${cause}`));
  }
  if (first === undefined) return 'not on this node';
  const more = wrong.length === 0 ? rest : wrong.slice(1);
  return answerLine(first) + (more.length === 0 ? '' : `; and ${counted(more.length, 'pod')} more`);
}

/** Formats an answer: a line about the state, and aligned lines about each cause. */
function answerText({title, state, findings, unread}: Answer, prefix: readonly string[]): string {
  if (findings.length === 0) return `${shown(`${title}  ${state}: nothing is wrong`)}\n`;
  const missing = unread.map(({what, reason}) => `${what}: ${reason}`).join('; ');
  return [
    shown(`${title}  ${state}`),
    ...findings.flatMap((finding) => findingLines(finding, prefix)),
    ...labeled('not read', missing === '' ? [] : [missing]),
    '',
  ].join('\n');
}

/** Formats an answer on one line: `default/web  CrashLoopBackOff, restarted 6 times: CAUSE`. */
function answerLine({title, state, findings}: Answer): string {
  const [first, ...rest] = findings;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return shown(`${title}  ${state}: ${first?.cause ?? 'nothing is wrong'}${more}`);
}

function findingLines(finding: Finding, prefix: readonly string[]): readonly string[] {
  const {severity, cause, inferredFrom, evidence, log = [], next, tries} = finding;
  return [
    ...labeled(severity === 'warning' ? 'warning' : 'cause', [cause]),
    ...labeled('inferred', inferredFrom === undefined ? [] : [`from ${inferredFrom}`]),
    ...labeled('evidence', evidence.length === 0 ? [] : [evidence.join('; ')]),
    ...labeled('log', log),
    ...labeled('next', next === undefined ? [] : [next]),
    ...labeled(
      'try',
      tries.map((advice) => adviceText(advice, prefix)),
    ),
  ];
}

function labeled(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => (index === 0 ? label : '').padEnd(LABEL_WIDTH) + shown(line));
}
