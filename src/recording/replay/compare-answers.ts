import type {JsonObject} from '../../format/json.js';
import {isRead, labelsOf, podOf, type CanonicalCall} from '../canonical/canonical-calls.js';
import type {JsonObject as PlainObject} from '../canonical/canonical-json.js';
import {callDifference, type RunDifference} from '../canonical/compare-runs.js';
import {comparableCall, environmentOf, withText} from '../canonical/recorded-run.js';
import {comparableAnswer, withRecordedOutput} from './comparable-answer.js';
import {ReadHistory, type TimedCall} from './read-history.js';
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
 * read may answer what the recording has later.
 */
export function createComparison(calls: readonly RecordedCall[]): AnswerComparison {
  const toCanonical = createCanonicalForm(calls);
  const history = new ReadHistory(timedCalls(calls, toCanonical));
  return (call, answer) => {
    if (call.isCanceled) return undefined;
    const replayed = toCanonical(call, answer);
    if (isRead(call.method.rpc) && history.allows({startMs: call.startMs, call: replayed})) return undefined;
    const recorded = toCanonical(call, isRecorded(call) ? call : {...call, response: answer.response});
    return callDifference(podOf(recorded), ...withErrors([recorded, call], [replayed, answer]))[0];
  };
}

/** Yields calls one after the other: the canonical forms of all lists would fill the memory. */
function* timedCalls(calls: readonly RecordedCall[], toCanonical: CanonicalForm): Generator<TimedCall> {
  for (const call of calls) yield {startMs: call.startMs, call: toCanonical(call, call)};
}

type CanonicalForm = (call: RecordedCall, answer: Omit<Answer, 'error'>) => CanonicalCall;

/** Returns a function that returns the canonical form of a recorded call with an answer, without the message of an error. */
function createCanonicalForm(calls: readonly RecordedCall[]): CanonicalForm {
  const comparable = calls.flatMap(({line}) => comparableCall(line) ?? []);
  const labels = labelsOf(comparable, environmentOf(comparable));
  const made = new Set(calls.flatMap(({response}) => createdIds(response)));
  return (call, {code, response}) => {
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
