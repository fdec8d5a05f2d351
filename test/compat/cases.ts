import type {GrpcCode} from '../../src/cri/errors.js';
import type {Rpc} from '../fakes/runtime/cri-messages.js';
import {CHANGING_CASES} from './cases-changing.js';
import {GENERAL_CASES} from './cases-general.js';
import {LISTING_CASES} from './cases-listing.js';
import {OTHER_CASES} from './cases-other.js';
import type {SceneName} from './scene.js';

/** How a command line is run besides its words. */
export interface Circumstances {
  readonly scene?: SceneName;
  /** Set, or with `undefined` taken away. `{DIR}`, `{ENDPOINT}`, `{SOCKET}` and ids are filled in, as in words. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** An RPC that fails. */
  readonly fault?: readonly [Rpc, GrpcCode];
  /** An RPC that takes so many milliseconds. */
  readonly delay?: readonly [Rpc, number];
  /** Ctrl-C in the midst of the RPC that takes long. */
  readonly interrupted?: true;
  /** An RPC in the midst of which the runtime dies. */
  readonly crash?: Rpc;
  /** Lines come in any order. */
  readonly unordered?: true;
}

/** A command line as it is written here: words between blanks, or one by one, and maybe circumstances. */
export type Case = string | readonly [words: string | readonly string[], circumstances: Circumstances];

/** A command line that crictl was run with, and kcri has to answer alike. */
export interface CompatCase extends Circumstances {
  readonly title: string;
  readonly words: readonly string[];
}

/** All command lines by the file that their recordings are in. */
export const CASES: Readonly<Record<string, readonly CompatCase[]>> = Object.fromEntries(
  Object.entries({...GENERAL_CASES, ...LISTING_CASES, ...CHANGING_CASES, ...OTHER_CASES}).map(
    ([command, cases]) => [command, cases.map(compatCase)],
  ),
);

function compatCase(given: Case): CompatCase {
  const [line, circumstances] = typeof given === 'string' ? [given, {}] : given;
  const words = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const {scene, env = {}, fault, delay, crash, interrupted} = circumstances;
  const extras = [
    ...Object.entries(env).map(([name, value]) => `${name}=${value ?? '(unset)'}`),
    ...(scene === undefined ? [] : [`(${scene})`]),
    ...(fault === undefined ? [] : [`(${fault[0]} fails with ${fault[1]})`]),
    ...(delay === undefined ? [] : [`(${delay[0]} takes ${delay[1]} ms)`]),
    ...(interrupted === undefined ? [] : ['(Ctrl-C)']),
    ...(crash === undefined ? [] : [`(the runtime dies in ${crash})`]),
  ];
  return {...circumstances, words, title: ['crictl', ...words.map(shown), ...extras].join(' ')};
}

function shown(word: string): string {
  return /^[^\s'"]+$/.test(word) ? word : JSON.stringify(word);
}
