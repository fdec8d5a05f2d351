import type {Advice} from '../why/finding.js';
import {mapFact, type Fact} from './fact.js';
import type {NodeSnapshot} from './node-snapshot.js';

/** Areas of checks, in the order of the output. */
export const AREAS = [
  'runtime',
  'kubelet',
  'network',
  'cgroups',
  'kernel',
  'disk',
  'memory',
  'time',
  'leftovers',
  'security',
] as const;

type Area = (typeof AREAS)[number];

/** `skipped`: it could not be examined. */
export type Result = 'ok' | 'warning' | 'failure' | 'skipped';

/** Result of a check. Texts may contain what files and processes of the node say. */
export interface Outcome {
  readonly result: Result;
  /** Finding in one sentence. */
  readonly message: string;
  /** Reason why the check was skipped; absent otherwise. */
  readonly reason?: string;
  readonly details: readonly string[];
  /** Steps to take: commands of kcri and of the shell. */
  readonly remedy: readonly Advice[];
}

/** Examines one property of a node. */
export interface Check {
  readonly id: `${Area}/${string}`;
  /** Subject of the check, as a noun phrase. */
  readonly title: string;
  /** Pure. */
  readonly examine: (snapshot: NodeSnapshot) => Outcome;
}

/** Result of a check with the identity of the check. */
export interface CheckResult extends Outcome {
  readonly id: string;
  readonly area: string;
  readonly title: string;
}

type More = Partial<Pick<Outcome, 'details' | 'remedy'>>;

const outcome =
  (result: Result) =>
  (message: string, {details = [], remedy = []}: More = {}): Outcome => ({result, message, details, remedy});

export const ok = (message: string): Outcome => outcome('ok')(message);
export const warning = outcome('warning');
export const failure = outcome('failure');

/** Returns the outcome of a check that cannot examine its subject. */
export function skipped(reason: string, message = 'not examined'): Outcome {
  return {result: 'skipped', message, reason, details: [], remedy: []};
}

type FactsOf<Values extends readonly unknown[]> = {readonly [Index in keyof Values]: Fact<Values[Index]>};

/** Judges the values of facts; an outcome without them is skipped with the reason of the first unknown one. */
export function judge<const Values extends readonly unknown[]>(
  facts: FactsOf<Values>,
  decide: (...values: Values) => Outcome,
): Outcome {
  const values: unknown[] = [];
  for (const fact of facts) {
    if ('error' in fact) return skipped(fact.error);
    values.push(fact.value);
  }
  return decide(...(values as unknown as Values));
}

/** Returns the text of a file without white space around it. */
export function textIn({files}: Pick<NodeSnapshot, 'files'>, path: string): Fact<string> {
  return mapFact(files[path] ?? {error: `${path} was not read`}, (text) => text.trim());
}

/** Number of details that are shown of many. */
const SHOWN = 10;

/** Returns the first of many lines, and how many more there are. */
export function shownFirst(lines: readonly string[]): readonly string[] {
  return lines.length <= SHOWN ? lines : [...lines.slice(0, SHOWN), `and ${lines.length - SHOWN} more`];
}
