import type {ChalkInstance} from 'chalk';
import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import type {CriCall, PodEvent, PodOutcome, PodRef} from '../../kubelet/index.js';
import {visibleControls} from '../../format/visible.js';
import {InPlace} from '../in-place.js';
import type {Output} from '../output.js';
import {callBegun, callEnded, initialView, statusSeen, subjectOf, type PodView} from './model.js';
import {containerOf, isNews, type SyncRenderer} from './renderer.js';
import {podTitle} from './text.js';
import {FRAME_MS, treeLines} from './tree.js';

/** What a LiveTree draws with. */
export interface LiveTreeOptions {
  readonly output: Output;
  readonly chalk: ChalkInstance;
  readonly clock: Clock;
  /** Show the pods' Warning events. */
  readonly warnings: boolean;
}

/** Redraws a tree of the pods in place; warnings and logs scroll by above it. */
export class LiveTree implements SyncRenderer {
  readonly #output: Output;
  readonly #chalk: ChalkInstance;
  readonly #clock: Clock;
  readonly #warnings: boolean;
  readonly #startedAt: number;
  readonly #views = new Map<string, PodView>();
  readonly #names = new Map<string, string>();
  readonly #ended = new AbortController();
  readonly #screen: InPlace;

  constructor({output, chalk, clock, warnings}: LiveTreeOptions) {
    this.#output = output;
    this.#chalk = chalk;
    this.#clock = clock;
    this.#warnings = warnings;
    this.#startedAt = clock.now();
    this.#screen = new InPlace(output);
    // Ends with `end`, which is the only thing that can reject its sleep.
    void this.#spin();
  }

  async #spin(): Promise<void> {
    try {
      for (;;) {
        await this.#clock.sleep(FRAME_MS, this.#ended.signal);
        this.#draw();
      }
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error;
    }
  }

  #draw(above = '', room = this.#screen.room): void {
    const tree = treeLines([...this.#views.values()], {
      chalk: this.#chalk,
      columns: this.#output.columns ?? 80,
      elapsedMs: this.#clock.now() - this.#startedAt,
    });
    this.#screen.draw(tree.slice(0, room), above);
  }

  #update(ref: PodRef, change: (view: PodView) => PodView): void {
    this.#views.set(ref.uid, change(this.#views.get(ref.uid) ?? initialView(ref)));
    this.#draw();
  }

  callBegun(pod: PodRef, call: Pick<CriCall, 'method' | 'request'>): void {
    this.#update(pod, (view) => callBegun(view, call, subjectOf(call, this.#names)));
  }

  callEnded(pod: PodRef, call: CriCall): void {
    const subject = subjectOf(call, this.#names);
    if (call.method === 'CreateContainer') this.#names.set(String(call.response?.['containerId']), subject);
    this.#update(pod, (view) => callEnded(view, call, subject));
  }

  event(pod: PodRef, event: PodEvent): void {
    if (!this.#warnings || !isNews(event)) return;
    const container = containerOf(event);
    const where = container === '' ? podTitle(pod) : `${podTitle(pod)}/${container}`;
    this.#draw(`${this.#chalk.yellow(`${where}: ${event.reason}:`)} ${visibleControls(event.message)}\n`);
  }

  status(pod: PodRef, status: PodStatus): void {
    this.#update(pod, (view) => statusSeen(view, status));
  }

  note(pod: PodRef, text: string): void {
    this.#draw(`${this.#chalk.bold(podTitle(pod))}: ${visibleControls(text)}\n`);
  }

  outcome(outcome: PodOutcome): void {
    this.#update(outcome.pod, (view) => ({...view, doing: ''}));
  }

  log(_pod: PodRef, container: string, lines: readonly string[]): void {
    const prefix = this.#chalk.dim(`${container} |`);
    this.#draw(lines.map((line) => `${prefix} ${line}\n`).join(''));
  }

  aside(write: () => void): void {
    if (this.#ended.signal.aborted) {
      write();
      return;
    }
    this.#screen.clear();
    write();
    this.#draw();
  }

  end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#draw('', Infinity);
    this.#screen.end();
  }
}
