import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import type {CriCall, PodEvent, ForegroundSyncResult, PodRef} from '../../../kubelet/index.js';
import {callSubject} from './pod-view.js';
import type {SyncTotals} from '../sync-counts.js';
import {type LogOrigin, type ManifestContent, type SyncRenderer} from './sync-renderer.js';
import {eventContainer} from '../../events/event-container.js';

/**
 * Writes one JSON object per line: `{"time", "type": "call"|"event"|"status"|"note"|"log"|"output"|"result",
 * "namespace", "pod", "uid", …}`. The first lines are the workloads and the objects without effect, `"type": "workload"`
 * and `"skipped"`. The last lines are the results, one for each pod, and `{"time", "type": "summary", …}`.
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
    return JSON.stringify({time: this.#time(), type, namespace, pod: name, uid, ...facts});
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  #write(type: string, pod: PodRef, facts: Readonly<Record<string, unknown>>): void {
    this.#out(this.#line(type, pod, facts));
  }

  readonly content = ({workloads, skipped}: ManifestContent): void => {
    for (const workload of workloads)
      this.#out(JSON.stringify({time: this.#time(), type: 'workload', ...workload}));
    for (const object of skipped) this.#out(JSON.stringify({time: this.#time(), type: 'skipped', ...object}));
  };

  callStarted(): void {
    // Only finished calls are written.
  }

  callFinished(pod: PodRef, call: CriCall): void {
    const target = callSubject(call, this.#names);
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
    const container = eventContainer(event);
    this.#write('event', pod, {eventType, reason, message, ...(container !== undefined && {container})});
  }

  status(pod: PodRef, status: PodStatus): void {
    this.#write('status', pod, {status});
  }

  note(pod: PodRef, text: string): void {
    this.#write('note', pod, {message: text});
  }

  result(outcome: ForegroundSyncResult, exitCode: number): void {
    this.#results.push(
      this.#line('result', outcome.pod, {outcome: outcome.kind, exitCode, ...outcomeFacts(outcome)}),
    );
  }

  /** Writes log lines that arrived together; serializes their common fields only once. */
  log(pod: PodRef, {container, stream}: LogOrigin, lines: readonly string[]): void {
    const head = this.#line('log', pod, {container, stream, line: ''}).slice(0, -'""}'.length);
    this.#out(lines.map((line) => `${head}${JSON.stringify(line)}}`).join('\n'));
  }

  lastOutput(pod: PodRef, container: string, lines: readonly string[]): void {
    this.#write('output', pod, {container, lines});
  }

  writeAbove(write: () => void): void {
    write();
  }

  end(totals?: SyncTotals): void {
    for (const result of this.#results.splice(0)) this.#out(result);
    if (totals === undefined) return;
    const durationMs = Math.round(totals.durationMs);
    this.#out(JSON.stringify({time: this.#time(), type: 'summary', ...totals, durationMs}));
  }
}

/** Returns the fields of an outcome besides its kind. */
function outcomeFacts(outcome: ForegroundSyncResult): Readonly<Record<string, unknown>> {
  switch (outcome.kind) {
    case 'failed':
      return {error: messageOf(outcome.error), removed: outcome.removed};
    case 'timeout':
      return outcome.error === undefined ? {} : {error: messageOf(outcome.error)};
    case 'complete':
    case 'broken':
      return {
        ...(outcome.container !== undefined && {container: outcome.container}),
        ...(outcome.exitReason !== undefined && {reason: outcome.exitReason}),
        ...(outcome.hadEnded && {hadEnded: true}),
      };
    case 'gated':
      return {gates: outcome.gates};
    case 'ready':
    case 'interrupted':
      return {};
  }
}
