import type {CommandContext} from '../../cli/command/contexts.js';
import {wantsColor} from '../../cli/output/output.js';
import {podRef, PodTimelines, type PodObserver} from '../../kubelet/index.js';
import type {Clock} from '../../base/clock.js';
import type {PodUid} from '../../cri/index.js';
import {PodReader} from '../pods/pod-reader.js';
import {collectFacts, measuredFacts} from './collect-facts.js';
import {computeTimeline} from './compute-timeline.js';
import type {PodFacts} from './pod-facts.js';

/** Records the steps of the pods that a sync runs. */
export class SyncTimelines {
  readonly #timelines: PodTimelines;
  /** Pods that a call was made for. */
  readonly #pods = new Set<PodUid>();

  constructor(clock: Clock) {
    this.#timelines = new PodTimelines(clock);
  }

  /** Returns an observer that also records. */
  observe(observer: PodObserver): PodObserver {
    const timelines = this.#timelines;
    return {
      ...observer,
      call: (ref, ...call) => {
        this.#pods.add(ref.uid);
        timelines.call(ref, ...call);
        observer.call(ref, ...call);
      },
      prepared: timelines.prepared,
      statusChanged: (pod, known) => {
        timelines.statusChanged(pod, known);
        observer.statusChanged?.(pod, known);
      },
    };
  }

  /**
   * Prints the timelines of the pods that something was done for to standard error, also of those that are removed by now. Rejects
   * with KcriError.
   */
  async print(services: CommandContext, mask: (text: string) => string): Promise<void> {
    const facts = await this.#collectFacts(services);
    if (facts.length === 0) return;
    const [{Chalk}, {formatWaterfall, waterfallOptions}] = await Promise.all([
      import('chalk'),
      import('./waterfall.js'),
    ]);
    const {out, report, context} = services;
    const chalk = new Chalk({level: wantsColor(context.env, out.stderr) ? 1 : 0});
    const options = {...waterfallOptions(context.env, out.stderr), chalk, medians: new Map()};
    const lines = facts.map(computeTimeline).flatMap((timeline) => formatWaterfall(timeline, options));
    report.info(mask(lines.join('\n')));
  }

  async #collectFacts(services: CommandContext): Promise<readonly PodFacts[]> {
    if (this.#pods.size === 0) return [];
    const known = new Map((await this.#readFacts(services)).map((facts) => [facts.uid, facts]));
    const nowMs = services.context.clock.now();
    // After an interruption, it is not known which pods are gone.
    const gone = services.signal.aborted ? {} : {isDeleted: true as const};
    return this.#timelines.livesWithout(new Set()).flatMap((life): readonly PodFacts[] => {
      const {uid} = podRef(life.pod);
      if (!this.#pods.has(uid)) return [];
      return [known.get(uid) ?? {...measuredFacts(life, nowMs), ...gone}];
    });
  }

  /** Reads what the runtime has of the pods: nothing after an interruption, after which their steps are enough. */
  async #readFacts(services: CommandContext): Promise<readonly PodFacts[]> {
    try {
      const reader = new PodReader(services);
      const listed = (await reader.select([], {})).filter(({uid}) => this.#pods.has(uid));
      const stepsOf = (uid: PodUid) => this.#timelines.steps(uid);
      return await collectFacts({services, reader, stepsOf}, await reader.observe(listed));
    } catch (error) {
      if (!services.signal.aborted) throw error;
      return [];
    }
  }
}
