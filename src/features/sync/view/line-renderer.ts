import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import type {CriCall, PodEvent, ForegroundSyncResult, PodRef} from '../../../kubelet/index.js';
import {containerNames, containerStates, callSubject} from './pod-view.js';
import {formatTotals, type SyncTotals} from '../sync-counts.js';
import type {LogOrigin, SyncRenderer} from './sync-renderer.js';
import {eventContainer} from '../../events/event-container.js';
import {formatPodTitle} from '../../pods/pod-title.js';
import {formatElapsed} from '../../../format/duration.js';
import {RepeatedWarnings} from './repeated-warnings.js';

/** Phase of a pod before its first sync, which is not printed. */
const INITIAL_PHASE = 'Pending';

/** Results of calls by CRI method; other calls are not reported. */
const RESULTS: Readonly<Record<string, (call: CriCall, subject: string) => string>> = {
  RunPodSandbox: ({response}) => `sandbox ${String(response?.['podSandboxId']).slice(0, 13)} created`,
  StopPodSandbox: () => 'sandbox stopped',
  RemovePodSandbox: () => 'sandbox removed',
  PullImage: (_, image) => `image ${image} pulled`,
  StartContainer: (_, name) => `container ${name} started`,
  StopContainer: (_, name) => `container ${name} stopped`,
  RemoveContainer: (_, name) => `container ${name} removed`,
};

/** Options of a LineRenderer. */
export interface LineRendererOptions {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** True to show the pods' Warning events. */
  readonly warnings: boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Prints one line per step to stdout, and warnings to stderr; for pipes and logs. */
export class LineRenderer implements SyncRenderer {
  readonly #out: (line: string) => void;
  readonly #err: (line: string) => void;
  readonly #warnings: RepeatedWarnings | undefined;
  readonly #names = new Map<string, string>();
  readonly #seen = new Map<string, string>();

  constructor({out, err, warnings, clock}: LineRendererOptions) {
    this.#out = out;
    this.#err = err;
    this.#warnings = warnings ? new RepeatedWarnings(clock) : undefined;
  }

  callStarted(): void {
    // Only finished calls are printed.
  }

  callFinished(pod: PodRef, call: CriCall): void {
    if (call.error !== undefined) return;
    const subject = callSubject(call, this.#names);
    if (call.method === 'CreateContainer') this.#names.set(String(call.response?.['containerId']), subject);
    const text = RESULTS[call.method]?.(call, subject);
    if (text !== undefined) this.#out(`${formatPodTitle(pod)}: ${text} (${formatElapsed(call.durationMs)})`);
  }

  event(pod: PodRef, event: PodEvent): void {
    const message = event.type === 'Warning' ? this.#warnings?.next(pod, event) : undefined;
    if (message === undefined) return;
    const container = eventContainer(event);
    const where =
      container === undefined ? formatPodTitle(pod) : `${formatPodTitle(pod)}: container ${container}`;
    this.#err(`${where}: ${event.reason}: ${message}`);
  }

  status(pod: PodRef, status: PodStatus): void {
    for (const [id, name] of containerNames(status)) this.#names.set(id, name);
    const {phase = INITIAL_PHASE, podIP: ip} = status;
    this.#ifChanged(pod, 'pod', ip === undefined ? phase : `${phase}, IP ${ip}`, INITIAL_PHASE);
    for (const {name, state, exists} of containerStates(status))
      if (exists) this.#ifChanged(pod, `container ${name}`, state.state);
  }

  /** Prints the text of an object if it differs from the last one, or at first from `initial`. */
  #ifChanged(pod: PodRef, object: string, text: string, initial?: string): void {
    const key = `${pod.uid} ${object}`;
    if ((this.#seen.get(key) ?? initial) === text) return;
    this.#seen.set(key, text);
    this.#out(`${formatPodTitle(pod)}: ${object === 'pod' ? text : `${object} ${text}`}`);
  }

  note(pod: PodRef, text: string): void {
    this.#err(`${formatPodTitle(pod)}: ${text}`);
  }

  /** Prints a success. The command reports a failure as its error. */
  result(outcome: ForegroundSyncResult): void {
    const {kind, pod} = outcome;
    if (kind === 'ready' || (kind === 'complete' && outcome.exitCode === 0))
      this.#out(`${formatPodTitle(pod)}: ${kind}`);
  }

  log(pod: PodRef, {container}: LogOrigin, lines: readonly string[]): void {
    this.#out(prefixed(pod, container, lines));
  }

  lastOutput(pod: PodRef, container: string, lines: readonly string[]): void {
    for (const line of prefixed(pod, container, lines).split('\n')) this.#err(line);
  }

  writeAbove(write: () => void): void {
    write();
  }

  end(totals?: SyncTotals): void {
    if (totals !== undefined) this.#out(formatTotals(totals));
  }
}

function prefixed(pod: PodRef, container: string, lines: readonly string[]): string {
  const prefix = `${formatPodTitle(pod)}/${container} | `;
  return lines.map((line) => prefix + line).join('\n');
}
