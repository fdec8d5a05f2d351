import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {CriCall, PodEvent, PodOutcome, PodRef} from '../../kubelet/index.js';
import {subjectOf} from './model.js';
import {containerOf, type SyncRenderer} from './renderer.js';

/**
 * One JSON object a line: `{"time", "type": "call"|"event"|"status"|"note"|"log"|"result", "namespace", "pod",
 * "uid", …}`. The last lines are the results, one for each pod.
 */
export class JsonLinesRenderer implements SyncRenderer {
  readonly #out: (line: string) => void;
  readonly #clock: Clock;
  readonly #names = new Map<string, string>();
  readonly #results: string[] = [];

  constructor(out: (line: string) => void, clock: Clock) {
    this.#out = out;
    this.#clock = clock;
  }

  #line(type: string, {namespace, name, uid}: PodRef, facts: Readonly<Record<string, unknown>>): string {
    const time = new Date(this.#clock.now()).toISOString();
    return JSON.stringify({time, type, namespace, pod: name, uid, ...facts});
  }

  #write(type: string, pod: PodRef, facts: Readonly<Record<string, unknown>>): void {
    this.#out(this.#line(type, pod, facts));
  }

  callBegun(): void {
    // A call is written once, with how it ended.
  }

  callEnded(pod: PodRef, call: CriCall): void {
    const target = subjectOf(call, this.#names);
    if (call.method === 'CreateContainer') this.#names.set(String(call.response?.['containerId']), target);
    this.#write('call', pod, {
      method: call.method,
      ...(target === '' ? {} : {target}),
      ...call.response,
      durationMs: Math.round(call.durationMs),
      ...(call.error === undefined ? {} : {error: messageOf(call.error)}),
    });
  }

  event(pod: PodRef, event: PodEvent): void {
    const {type: eventType, reason, message} = event;
    const container = containerOf(event);
    this.#write('event', pod, {eventType, reason, message, ...(container === '' ? {} : {container})});
  }

  status(pod: PodRef, status: PodStatus): void {
    this.#write('status', pod, {status});
  }

  note(pod: PodRef, text: string): void {
    this.#write('note', pod, {message: text});
  }

  outcome(outcome: PodOutcome, exitCode: number): void {
    this.#results.push(
      this.#line('result', outcome.pod, {outcome: outcome.kind, exitCode, ...outcomeFacts(outcome)}),
    );
  }

  /** As many lines come at once as were written together: only what differs is made for each. */
  log(pod: PodRef, container: string, lines: readonly string[]): void {
    const head = this.#line('log', pod, {container, line: ''}).slice(0, -'""}'.length);
    this.#out(lines.map((line) => `${head}${JSON.stringify(line)}}`).join('\n'));
  }

  aside(write: () => void): void {
    write();
  }

  end(): void {
    for (const result of this.#results.splice(0)) this.#out(result);
  }
}

/** What is told of an outcome beside its kind. */
function outcomeFacts(outcome: PodOutcome): Readonly<Record<string, unknown>> {
  switch (outcome.kind) {
    case 'failed':
      return {error: messageOf(outcome.error), removed: outcome.removed};
    case 'timeout':
      return outcome.error === undefined ? {} : {error: messageOf(outcome.error)};
    case 'complete':
    case 'broken':
      return outcome.container === undefined ? {} : {container: outcome.container};
    case 'gated':
      return {gates: outcome.gates};
    case 'ready':
    case 'interrupted':
      return {};
  }
}
