import {podRef, type ForegroundSyncResult, type PodEvent, type PodRef} from '../../kubelet/index.js';
import {eventContainer} from '../events/event-container.js';
import {formatElapsed} from '../../format/duration.js';

/** Options of ProbeFailures. */
export interface ProbeFailuresOptions {
  /** True if there is no time limit: failures are reported as they happen, and what would end the wait. */
  readonly isUnlimited: boolean;
  /** Returns the time since the start of the sync, in ms. */
  readonly elapsedMs: () => number;
  readonly note: (pod: PodRef, text: string) => void;
}

/** Message of the event with which a kubelet kills a container because of a probe. */
const KILLED_BY_PROBE = /failed (liveness|startup) probe/;

/** Remembers the last probe failure of each container, and reports failures that differ from it. */
export class ProbeFailures {
  readonly #options: ProbeFailuresOptions;
  readonly #last = new Map<string, Map<string, string>>();
  #hasHinted = false;

  constructor(options: ProbeFailuresOptions) {
    this.#options = options;
  }

  /**
   * Returns the last failures of the containers that are not ready, such as
   * `container "web": Readiness probe failed: …`.
   */
  of({pod: {uid}, status}: Pick<ForegroundSyncResult, 'pod' | 'status'>): readonly string[] {
    const {containerStatuses = [], initContainerStatuses = []} = status ?? {};
    const ready = new Set(
      [...containerStatuses, ...initContainerStatuses].filter((one) => one.ready).map(({name}) => name),
    );
    return [...(this.#last.get(uid) ?? [])]
      .filter(([name]) => !ready.has(name))
      .map(([name, message]) => `container "${name}": ${message}`);
  }

  /** Observes an event of a pod. */
  observe(event: PodEvent): void {
    const pod = podRef(event.pod);
    const name = eventContainer(event) ?? '';
    // A probe without output leaves the colon before it.
    const message = event.message.trim().replace(/:$/, '');
    if (event.reason === 'Killing' && KILLED_BY_PROBE.test(message)) this.#note(pod, message);
    if (event.reason !== 'Unhealthy') return;
    const failures = this.#last.get(pod.uid) ?? new Map<string, string>();
    const isKnown = failures.get(name) === message;
    this.#last.set(pod.uid, failures.set(name, message));
    if (isKnown || !this.#options.isUnlimited) return;
    this.#note(pod, `container ${name}: ${message}`);
    if (this.#hasHinted) return;
    this.#hasHinted = true;
    this.#options.note(
      pod,
      'the probe is repeated until it succeeds; use --timeout to limit the wait, or Ctrl-C to leave the pod running',
    );
  }

  #note(pod: PodRef, text: string): void {
    this.#options.note(pod, `${text} (after ${formatElapsed(this.#options.elapsedMs())})`);
  }
}
