import {join} from 'node:path';
import {writeFileAtomicWithoutSync} from '../../../base/fs/atomic-write.js';
import {stateDirectory} from '../../../base/fs/state-directory.js';
import {isSystemCallError} from '../../../base/errors.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {isMissing, mapFact, type Fact} from '../fact.js';
import type {NodeSnapshot} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Durations by RPC. */
type History = Readonly<Record<string, readonly number[]>>;

/** Number of durations that are kept of each call. */
const KEPT = 30;

const fileIn = (rootDir: string): string => join(stateDirectory(rootDir), 'doctor-latencies.json');

/** Reads the durations of earlier calls. They are of this machine, so that those of a remote node are unknown. */
export async function readHistory(
  rootDir: string,
  node: FileReader,
  isRemote = false,
): Promise<Fact<History>> {
  if (isRemote) return {error: 'the durations of calls to remote nodes are not kept'};
  const text = await node.text(fileIn(rootDir));
  if (isMissing(text)) return {error: 'no earlier run is recorded', isMissing: true};
  return mapFact(text, parseHistory);
}

/** Returns the durations in a file; those of a broken file are empty. Pure. */
export function parseHistory(text: string): History {
  return Object.fromEntries(
    Object.entries(parseJsonObject(text)).map(([rpc, list]) => [
      rpc,
      Array.isArray(list) ? list.filter((ms): ms is number => typeof ms === 'number').slice(-KEPT) : [],
    ]),
  );
}

/** Returns the history with the durations of the calls that were answered. Pure. */
export function extendHistory({history, calls}: NodeSnapshot['runtime']): History {
  const before = 'value' in history ? history.value : {};
  const answered = calls.filter(({error}) => error === undefined);
  return {
    ...before,
    ...Object.fromEntries(answered.map(({rpc, ms}) => [rpc, [...(before[rpc] ?? []), ms].slice(-KEPT)])),
  };
}

/**
 * Adds the durations of the calls to the history. Nothing is written into a root directory that kcri has not used, and a history
 * that this user cannot write is left as it is.
 */
export async function recordLatencies(rootDir: string, {runtime}: NodeSnapshot): Promise<void> {
  if ('error' in runtime.history && runtime.history.isMissing !== true) return;
  try {
    await writeFileAtomicWithoutSync(fileIn(rootDir), `${JSON.stringify(extendHistory(runtime))}\n`, 0o600);
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
  }
}
