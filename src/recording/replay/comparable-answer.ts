import {omit} from '../../base/omit.js';
import {isObject} from '../../base/is-object.js';
import type {Json, JsonObject} from '../../format/json.js';
import {stringAt} from '../../base/string-at.js';

/** Methods whose answers describe the node or a moment, and of which only the status is compared. */
const ONLY_STATUS =
  /^(Version|Status|RuntimeConfig|ImageFsInfo|ImageStatus|ListImages|ListMetricDescriptors|.*(Stats|Metrics)|RemoveImage)$/;
/** Members with times, of which only their presence is compared. */
const TIMES: ReadonlySet<string> = new Set(['createdAt', 'startedAt', 'finishedAt', 'timestamp']);
/** Output of a command of which only the length is recorded. */
const LENGTH = /^\(\d+ bytes\)$/;

/**
 * Returns the part of an answer that two runtimes can be expected to share: without times, verbose information, and objects
 * of lists that `isMade` does not know by their ID.
 */
export function comparableAnswer(
  method: string,
  answer: JsonObject,
  isMade: (id: string) => boolean,
): JsonObject {
  if (ONLY_STATUS.test(method)) return {};
  return comparable(withoutOthers(omit(answer, 'info'), isMade)) as JsonObject;
}

function comparable(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as JsonObject).filter(([, member]) => member !== '');
  return Object.fromEntries(
    members.map(([name, member]) => [name, TIMES.has(name) ? '<TIME>' : comparable(member)]),
  );
}

/** Removes the objects of others from the answer of ListContainers and ListPodSandbox, and sorts the rest. */
function withoutOthers(answer: JsonObject, isMade: (id: string) => boolean): JsonObject {
  const lists = Object.entries(answer).map(([name, member]): [string, Json] => {
    if ((name !== 'containers' && name !== 'items') || !Array.isArray(member)) return [name, member];
    const own = (member as readonly Json[]).filter((item) => isMade(idOf(item)));
    return [name, own.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))];
  });
  return Object.fromEntries(lists);
}

function idOf(item: Json): string {
  const id = isObject(item) ? item['id'] : undefined;
  return typeof id === 'string' ? id : '';
}

/** Returns an answer of ExecSync without the output that the recorded answer has only the length of. */
export function withRecordedOutput(answer: JsonObject, recorded: JsonObject | undefined): JsonObject {
  const isLength = (name: string): boolean => LENGTH.test(stringAt(recorded, name) ?? '');
  return Object.fromEntries(
    Object.entries(answer).filter(([name]) => (name !== 'stdout' && name !== 'stderr') || !isLength(name)),
  );
}
