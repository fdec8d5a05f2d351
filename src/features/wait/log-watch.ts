import {messageOf} from '../../base/errors.js';
import type {Clock} from '../../base/clock.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';
import type {TextPattern} from '../../operations/filters/go-regexp.js';
import {getContainerStatus, logPathOf} from '../../operations/logs/container-log.js';
import {hasExited} from '../../operations/logs/follow/container-state.js';
import type {LogFiles} from '../../operations/logs/log-files.js';
import type {LogTime} from '../../operations/logs/log-selection.js';
import {searchLog} from '../../operations/logs/search-log.js';
import type {LifecycleTarget} from '../targets/find-targets.js';
import {containerState, whyNeverRuns, type Judgement, type SeenPod} from './judge-readiness.js';
import {statusOfContainer} from '../pods/restart-policy.js';
import {containerNamesOf, currentId, whyReplaced} from './wait-target.js';

/** Options of a LogWatch. */
export interface LogWatchOptions {
  readonly pattern: TextPattern;
  readonly since: LogTime | undefined;
  readonly clock: Clock;
  /** Log files of the node; undefined for those of this machine. */
  readonly files: LogFiles | undefined;
  /** Called when a search ends. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

/** Searches the logs of the containers of one target, also of their later instances. */
export class LogWatch {
  readonly #target: LifecycleTarget;
  readonly #options: LogWatchOptions;
  /** Instances whose search has started, and whether it has ended. */
  readonly #searches = new Map<ContainerId, {ended: boolean}>();
  #line: string | undefined;
  #failure: string | undefined;

  constructor(target: LifecycleTarget, options: LogWatchOptions) {
    this.#target = target;
    this.#options = options;
  }

  /** First line that matched. */
  get line(): string | undefined {
    return this.#line;
  }

  /** Starts to search new instances, and returns whether a line has matched. */
  judge(seen: SeenPod, runtime: RuntimeService): Judgement {
    const names = containerNamesOf(this.#target, seen);
    for (const name of names) this.#start(this.#instance(seen, name), runtime);
    if (this.#line !== undefined) return {kind: 'met'};
    if (this.#failure !== undefined) return {kind: 'failed', reason: this.#failure};
    const searching = names.filter((name) => !this.#isOver(seen, name));
    if (names.length > 0 && searching.length === 0)
      return {
        kind: 'failed',
        reason: `no line matched: ${names.map((name) => this.#end(seen, name)).join(', ')}`,
      };
    const states = searching.map(
      (name) => `container "${name}": ${containerState(statusOfContainer(seen.pod, name))}`,
    );
    return {kind: 'pending', state: states.join(', ')};
  }

  #instance(seen: SeenPod, name: string): ContainerId | undefined {
    return this.#target.kind === 'container' && this.#target.isPinned
      ? this.#target.id
      : currentId(seen, name);
  }

  /** Reports whether no more lines of a container can follow. */
  #isOver(seen: SeenPod, name: string): boolean {
    const id = this.#instance(seen, name);
    if (id !== undefined && this.#searches.get(id)?.ended !== true) return false;
    if (this.#target.kind === 'container' && this.#target.isPinned) return id !== undefined;
    return whyNeverRuns(seen, name) !== undefined;
  }

  #end(seen: SeenPod, name: string): string {
    const reason = this.#target.kind === 'container' ? whyReplaced(this.#target, seen) : undefined;
    return `container "${name}" ${reason ?? whyNeverRuns(seen, name) ?? containerState(statusOfContainer(seen.pod, name))}`;
  }

  #start(id: ContainerId | undefined, runtime: RuntimeService): void {
    if (id === undefined || this.#searches.has(id)) return;
    const search = {ended: false};
    this.#searches.set(id, search);
    void this.#search(id, runtime).then(() => {
      search.ended = true;
      this.#options.onChange();
    });
  }

  /** Never rejects. */
  async #search(id: ContainerId, runtime: RuntimeService): Promise<void> {
    const {pattern, since, clock, files, signal} = this.#options;
    try {
      const path = logPathOf(await getContainerStatus(runtime, id, signal));
      const follow = {
        clock,
        progress: async () =>
          (await hasExited(runtime, id, signal)) ? ({kind: 'ended'} as const) : ({kind: 'running'} as const),
      };
      this.#line ??= await searchLog(path, {pattern, since, follow, files, signal});
    } catch (error) {
      if (!signal.aborted) this.#failure ??= messageOf(error);
    }
  }
}
