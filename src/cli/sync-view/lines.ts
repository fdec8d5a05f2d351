import type {PodStatus} from '../../api/v1-status.js';
import type {CriCall, PodEvent, PodOutcome, PodRef} from '../../kubelet/index.js';
import {containerStates, subjectOf} from './model.js';
import {containerOf, isNews, type SyncRenderer} from './renderer.js';
import {podTitle, tookText} from './text.js';

/** What a call has done, in a few words; calls that are not listed are steps of another one. */
const DONE: Readonly<Record<string, (call: CriCall, subject: string) => string>> = {
  RunPodSandbox: ({response}) => `sandbox ${String(response?.['podSandboxId']).slice(0, 13)} created`,
  StopPodSandbox: () => 'sandbox stopped',
  RemovePodSandbox: () => 'sandbox removed',
  PullImage: (_, image) => `image ${image} pulled`,
  StartContainer: (_, name) => `container ${name} started`,
  StopContainer: (_, name) => `container ${name} stopped`,
  RemoveContainer: (_, name) => `container ${name} removed`,
};

/** Where the lines of a LineRenderer go. */
export interface LineRendererOptions {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Show the pods' Warning events. */
  readonly warnings: boolean;
}

/** One line for each step on stdout, warnings on stderr: for pipes and logs. */
export class LineRenderer implements SyncRenderer {
  readonly #out: (line: string) => void;
  readonly #err: (line: string) => void;
  readonly #warnings: boolean;
  readonly #names = new Map<string, string>();
  readonly #seen = new Map<string, string>();

  constructor({out, err, warnings}: LineRendererOptions) {
    this.#out = out;
    this.#err = err;
    this.#warnings = warnings;
  }

  callBegun(): void {
    // A pipe gets what was done, not what is being done.
  }

  callEnded(pod: PodRef, call: CriCall): void {
    if (call.error !== undefined) return;
    const subject = subjectOf(call, this.#names);
    if (call.method === 'CreateContainer') this.#names.set(String(call.response?.['containerId']), subject);
    const text = DONE[call.method]?.(call, subject);
    if (text !== undefined) this.#out(`${podTitle(pod)}: ${text} (${tookText(call.durationMs)})`);
  }

  event(pod: PodRef, event: PodEvent): void {
    if (!this.#warnings || !isNews(event)) return;
    const container = containerOf(event);
    const where = container === '' ? podTitle(pod) : `${podTitle(pod)}: container ${container}`;
    this.#err(`${where}: ${event.reason}: ${event.message}`);
  }

  status(pod: PodRef, status: PodStatus): void {
    this.#once(
      pod,
      'pod',
      `${status.phase ?? 'Pending'}${status.podIP === undefined ? '' : `, IP ${status.podIP}`}`,
    );
    for (const {name, state, exists} of containerStates(status))
      if (exists) this.#once(pod, `container ${name}`, state.state);
  }

  /** Writes what is new of one object. */
  #once(pod: PodRef, object: string, text: string): void {
    const key = `${pod.uid} ${object}`;
    if (this.#seen.get(key) === text) return;
    this.#seen.set(key, text);
    this.#out(`${podTitle(pod)}: ${object === 'pod' ? text : `${object} ${text}`}`);
  }

  note(pod: PodRef, text: string): void {
    this.#err(`${podTitle(pod)}: ${text}`);
  }

  outcome(outcome: PodOutcome): void {
    const text = OUTCOMES[outcome.kind];
    if (text !== undefined) this.#out(`${podTitle(outcome.pod)}: ${text}`);
  }

  log(pod: PodRef, container: string, lines: readonly string[]): void {
    const prefix = `${podTitle(pod)}/${container} | `;
    this.#out(lines.map((line) => prefix + line).join('\n'));
  }

  aside(write: () => void): void {
    write();
  }

  end(): void {
    // Nothing is held back.
  }
}

/** Failures are shown as errors by the command. */
const OUTCOMES: Readonly<Partial<Record<PodOutcome['kind'], string>>> = {
  ready: 'ready',
  complete: 'complete',
};
