import type {Pod} from '../../../../api/types/v1-pod.js';
import type {PodSandboxId} from '../../../../cri/index.js';
import type {EventSink, PodEvent} from '../../../contract/pod-event.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SandboxDoubt} from '../compute/ending-sandbox.js';
import type {SyncContext} from '../sync-context.js';

/** Sandbox that a container starts in, with the status that the sync works from. */
interface DoubtfulSandbox {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly sandboxId: PodSandboxId;
  readonly doubt: SandboxDoubt | undefined;
}

/** Thrown by {@link TentativeStart.check}: the attempt is void. */
export class SandboxEnding extends Error {}

/**
 * Start of a container whose sandbox may be ending (see computeSandboxDoubt): its events are held back until it is confirmed.
 * Any other start is confirmed from the beginning.
 */
export class TentativeStart {
  readonly #context: Pick<SyncContext, 'files' | 'events' | 'clock'>;
  readonly #environment: DoubtfulSandbox;
  readonly #held: PodEvent[] = [];
  #isConfirmed: boolean;

  constructor(context: Pick<SyncContext, 'files' | 'events' | 'clock'>, environment: DoubtfulSandbox) {
    this.#context = context;
    this.#environment = environment;
    this.#isConfirmed = environment.doubt === undefined;
  }

  readonly events: EventSink = (event) => {
    if (this.#isConfirmed) this.#context.events(event);
    else this.#held.push(event);
  };

  /** Rejects with SandboxEnding if processes of the sandbox have ended that the runtime still reports as running. */
  async check(): Promise<void> {
    if (this.#isConfirmed) return;
    const {pod, status, sandboxId} = this.#environment;
    const running = status.containers.filter(
      (container) => container.sandboxId === sandboxId && container.state === 'CONTAINER_RUNNING',
    );
    const ids = [sandboxId, ...running.map(({id}) => id)];
    if (await this.#context.files.hasEndedProcesses(pod, ids)) throw new SandboxEnding();
  }

  /** Checks once the kernel shows the end of another process of a sandbox that is being stopped. */
  async checkWhenVisible(signal: AbortSignal): Promise<void> {
    const {clock} = this.#context;
    const ms = (this.#environment.doubt?.visibleAt ?? 0) - clock.now();
    if (ms > 0) await clock.sleep(ms, signal);
    await this.check();
  }

  /** Confirms the start, or that it has failed for another reason: emits the events held back. */
  confirm(): void {
    this.#isConfirmed = true;
    for (const event of this.#held.splice(0)) this.#context.events(event);
  }
}
