import {podRef, type PodEvent, type PodRef} from '../../kubelet/index.js';

/** Options of StandingWarnings. */
export interface StandingWarningsOptions {
  /** True if there is no time limit; with one, all warnings are shown as they happen. */
  readonly isUnlimited: boolean;
  readonly note: (pod: PodRef, text: string) => void;
}

/** Reasons of warnings that end no sync, and what the pod does meanwhile. */
const REASONS: ReadonlyMap<string, string | undefined> = new Map([
  ['FailedScheduling', 'the pod waits for its devices'],
  ['FailedPrepareDynamicResources', 'the preparation of its devices is repeated until it succeeds'],
  ['VolumeResizeFailed', undefined],
]);

/**
 * Reports the warnings that end no sync: without them, nobody would see what a pod waits for, or that its volume stayed as it was. Each
 * is reported once.
 */
export class StandingWarnings {
  readonly #options: StandingWarningsOptions;
  readonly #seen = new Set<string>();

  constructor(options: StandingWarningsOptions) {
    this.#options = options;
  }

  /** Observes an event of a pod. */
  observe({reason, message, pod}: PodEvent): void {
    const {isUnlimited, note} = this.#options;
    if (!isUnlimited || !REASONS.has(reason)) return;
    const ref = podRef(pod);
    const key = `${ref.uid} ${reason} ${message}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    note(ref, `${reason}: ${message.trim()}`);
    const meanwhile = REASONS.get(reason);
    if (meanwhile === undefined || this.#seen.has(reason)) return;
    this.#seen.add(reason);
    note(ref, `${meanwhile}; use --timeout to limit the wait, or Ctrl-C to end it`);
  }
}
