import {escapeToLine} from '../../format/escape-controls.js';
import {shorten} from '../../base/shorten.js';
import {adviceText, isWrong, type Answer} from './answer.js';
import type {Finding} from './finding.js';
import type {NodeState} from './node-answer.js';

/** Width of the labels. */
const LABEL_WIDTH = 11;
/** Length of a line; log lines and messages of the runtime are cut. */
const MAX_LENGTH = 1000;

/** Formats an answer for people: a line about the state, and aligned lines about each cause. */
export function answerText(answer: Answer, prefix: readonly string[]): string {
  const {title, state, findings, unread} = answer;
  if (findings.length === 0) return `${shown(`${title}  ${state}: nothing is wrong`)}\n`;
  const missing = unread.map(({what, reason}) => `${what}: ${reason}`).join('; ');
  return [
    shown(`${title}  ${state}`),
    ...findings.flatMap((finding) => findingLines(finding, prefix)),
    ...labeled('not read', missing === '' ? [] : [missing]),
    '',
  ].join('\n');
}

/** Pods of a node in its answer. */
interface NodePods {
  /** Answers about the pods that are not well. */
  readonly answers: readonly Answer[];
  readonly pods: number;
  readonly prefix: readonly string[];
}

/** Formats the answer about a node: what is wrong with it, and a line about each pod that is not well. */
export function nodeText({name, findings}: NodeState, {answers, pods, prefix}: NodePods): string {
  const wrong = answers.filter(isWrong);
  const count = `${pods} ${pods === 1 ? 'pod' : 'pods'}, ${wrong.length === 0 ? 'all well' : `${wrong.length} not well`}`;
  const state = findings.length === 0 ? `node ${name}  ${count}` : `node ${name}  not well; ${count}`;
  return [
    shown(state),
    ...findings.flatMap((finding) => findingLines(finding, prefix)),
    ...wrong.map(answerLine),
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

/** Texts may come from containers: they stay on their line and cannot control the terminal. */
function shown(text: string): string {
  return shorten(escapeToLine(text), MAX_LENGTH);
}
