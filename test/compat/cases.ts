import type {GrpcCode} from '../../src/cri/errors.js';
import type {Rpc} from '../fakes/runtime/cri-messages.js';
import {CHANGING_CASES} from './cases-changing.js';
import {FILE_CASES} from './cases-files.js';
import {GENERAL_CASES} from './cases-general.js';
import {LISTING_CASES} from './cases-listing.js';
import {OTHER_CASES} from './cases-other.js';
import type {FixtureName} from './fixture.js';

/** Conditions under which a command line is run. */
export interface CaseOptions {
  readonly fixture?: FixtureName;
  /**
   * Environment variables; `undefined` unsets one. `{DIR}`, `{ENDPOINT}`, `{SOCKET}` and IDs are replaced, as in
   * words.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** An RPC that fails. */
  readonly fault?: readonly [Rpc, GrpcCode];
  /** An RPC that is delayed by some milliseconds. */
  readonly delay?: readonly [Rpc, number];
  /** True if Ctrl-C is sent during the delayed RPC. */
  readonly interrupted?: true;
  /** An RPC during which the runtime crashes. */
  readonly crash?: Rpc;
  /** True if the order of lines is arbitrary. */
  readonly unordered?: true;
  /** Content of the file `{DIR}/given`, in which IDs are replaced, too. */
  readonly given?: string;
  /**
   * What else is compared: the content and mode of `{DIR}/given`, the requests that create pods and containers, or all
   * requests.
   */
  readonly shows?: 'file' | 'requests' | 'calls';
}

/** A command line, as a string or as a list of words, with options. */
export type Case = string | readonly [words: string | readonly string[], options: CaseOptions];

/** A command line that was recorded with crictl and must give the same result with kcri. */
export interface CompatCase extends CaseOptions {
  readonly title: string;
  readonly words: readonly string[];
}

/** All command lines by the file of their recordings. */
export const CASES: Readonly<Record<string, readonly CompatCase[]>> = Object.fromEntries(
  Object.entries({...GENERAL_CASES, ...LISTING_CASES, ...CHANGING_CASES, ...FILE_CASES, ...OTHER_CASES}).map(
    ([command, cases]) => [command, cases.map(compatCase)],
  ),
);

/** Completes a case with its title. */
export function compatCase(testCase: Case): CompatCase {
  const [line, options] = typeof testCase === 'string' ? [testCase, {}] : testCase;
  const words = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const {fixture, env = {}, fault, delay, crash, interrupted, given} = options;
  const extras = [
    ...Object.entries(env).map(([name, value]) => `${name}=${value ?? '(unset)'}`),
    ...(given === undefined ? [] : [`<<< ${JSON.stringify(given)}`]),
    ...(fixture === undefined ? [] : [`(${fixture})`]),
    ...(fault === undefined ? [] : [`(${fault[0]} fails with ${fault[1]})`]),
    ...(delay === undefined ? [] : [`(${delay[0]} takes ${delay[1]} ms)`]),
    ...(interrupted === undefined ? [] : ['(Ctrl-C)']),
    ...(crash === undefined ? [] : [`(the runtime dies in ${crash})`]),
  ];
  return {...options, words, title: ['crictl', ...words.map(quoteWord), ...extras].join(' ')};
}

function quoteWord(word: string): string {
  return /^[^\s'"]+$/.test(word) ? word : JSON.stringify(word);
}
