import type {JsonObject} from '../../format/json.js';
import {isRead, labelsOf, podOf, type CanonicalCall} from '../canonical/canonical-calls.js';
import type {JsonObject as PlainObject} from '../canonical/canonical-json.js';
import {callDifference, type RunDifference} from '../canonical/compare-runs.js';
import {comparableCall, environmentOf, withText} from '../canonical/recorded-run.js';
import {comparableAnswer, withRecordedOutput} from './comparable-answer.js';
import type {OwnExits} from './own-exits.js';
import {ReadHistory, withObjects, type TimedCall} from './read-history.js';
import {createdIds, type RecordedCall} from './recorded-calls.js';

/** Answer of a runtime. `response` is proto JSON with recorded values in place of those of the replay. */
export interface Answer {
  readonly code: string;
  readonly error: string;
  readonly response: JsonObject | undefined;
}

/** Compares answers with recorded ones in the canonical form of recordings. */
export type AnswerComparison = (call: RecordedCall, answer: Answer) => RunDifference | undefined;

/**
 * Returns a function that compares answers with those of these calls. Of calls that were canceled, nothing is compared; a
 * read may answer what the recording has later. `exits` are those of the replay.
 */
export function createComparison(
  calls: readonly RecordedCall[],
  exits: Pick<OwnExits, 'ranMs'>,
): AnswerComparison {
  const {toCanonical, ids} = createCanonicalForm(calls);
  const ranMs = (label: string): number | undefined => exits.ranMs(ids.get(label) ?? '');
  const history = new ReadHistory(timedCalls(calls, toCanonical));
  return (call, answer) => {
    if (call.isCanceled) return undefined;
    const replayed = toCanonical(call, answer);
    const recorded = (): CanonicalCall =>
      toCanonical(call, isRecorded(call) ? call : {...call, response: answer.response});
    if (!isRead(call.method.rpc)) return differenceOf([recorded(), call], [replayed, answer]);
    const unknown = history.unknownObjects({...call, call: replayed}, ranMs);
    if (unknown.length === 0) return undefined;
    const expected = history.closest({...call, call: replayed}, recorded(), unknown);
    return differenceOf([withObjects(expected, unknown), call], [withObjects(replayed, unknown), answer]);
  };
}

/** Members of answers that change while containers start, run and end. */
const CHANGING = /^(code|state|\w+At|exitCode|reason|message|network|ip|containers|items|status)$/;

/** Reports whether a read that differs may answer as recorded a moment later. Pure. */
export function mayPass({fields}: RunDifference): boolean {
  return fields.some(({path, a, b}) => {
    if (path === 'code' && (a === 'UNIMPLEMENTED' || b === 'UNIMPLEMENTED')) return false;
    // Labels of objects that one side lacks end with a bracket, and may have dots.
    const name = path.slice(path.lastIndexOf('.') + 1);
    return path.endsWith('>') || CHANGING.test(name) || path.includes('.network.');
  });
}

function differenceOf(recorded: WithError, replayed: WithError): RunDifference | undefined {
  return callDifference(podOf(recorded[0]), ...withErrors(recorded, replayed))[0];
}

/** Yields calls one after the other: the canonical forms of all lists would fill the memory. */
function* timedCalls(calls: readonly RecordedCall[], toCanonical: CanonicalForm): Generator<TimedCall> {
  for (const call of calls) yield {startMs: call.startMs, endMs: call.endMs, call: toCanonical(call, call)};
}

type CanonicalForm = (call: RecordedCall, answer: Omit<Answer, 'error'>) => CanonicalCall;

/** Returns a function that returns the canonical form of a recorded call with an answer, without the message of an error. */
function createCanonicalForm(calls: readonly RecordedCall[]): {
  readonly toCanonical: CanonicalForm;
  /** Recorded IDs of sandboxes and containers by their labels. */
  readonly ids: ReadonlyMap<string, string>;
} {
  const comparable = calls.flatMap(({line}) => comparableCall(line) ?? []);
  const labels = labelsOf(comparable, environmentOf(comparable));
  const made = new Set(calls.flatMap(({response}) => createdIds(response)));
  const ids = new Map([...made].map((id) => [labels.replaceInText(id), id]));
  const toCanonical: CanonicalForm = (call, {code, response}) => {
    const {rpc} = call.method;
    const output = withRecordedOutput(response ?? {}, call.response);
    const answered = withText(comparableAnswer(rpc, output, (id) => made.has(id)));
    return {
      method: rpc,
      timeout_s: 0,
      req: labels.replaceInValue((comparableCall(call.line)?.request ?? {}) as PlainObject) as PlainObject,
      code,
      resp: labels.replaceInValue(answered as PlainObject) as PlainObject,
    };
  };
  return {toCanonical, ids};
}

type WithError = readonly [CanonicalCall, {readonly error: string}];

/** Adds the messages of errors if the codes differ: those of runtimes differ anyway. */
function withErrors(a: WithError, b: WithError): readonly [CanonicalCall, CanonicalCall] {
  const [[callA], [callB]] = [a, b];
  if (callA.code === callB.code) return [callA, callB];
  const [first, second] = [a, b].map(([call, {error}]) =>
    error === '' ? call : {...call, resp: {...call.resp, error}},
  );
  return [first ?? callA, second ?? callB];
}

/** Reports whether the response is recorded; one that was too large is not. */
function isRecorded({line}: RecordedCall): boolean {
  return line['responseOmitted'] === undefined;
}
