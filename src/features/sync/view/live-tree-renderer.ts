import type {ChalkInstance} from 'chalk';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import type {CriCall, PodEvent, ForegroundSyncResult, PodRef} from '../../../kubelet/index.js';
import {escapeControls} from '../../../format/escape-controls.js';
import {LiveRegion} from '../../../cli/output/live-region.js';
import type {Output} from '../../../cli/output/output.js';
import {
  applyCallStarted,
  applyCallFinished,
  createPodView,
  applyPodStatus,
  callSubject,
  containerNames,
  type PodView,
} from './pod-view.js';
import {formatTotals, type SyncTotals} from '../sync-counts.js';
import type {LogOrigin, SyncRenderer} from './sync-renderer.js';
import {eventContainer} from '../../events/event-container.js';
import {formatPodTitle} from '../../pods/pod-title.js';
import {RepeatedWarnings} from './repeated-warnings.js';
import {FRAME_MS, formatTree, type TreeGlyphs} from './tree-lines.js';

/** Options of a LiveTreeRenderer. */
export interface LiveTreeRendererOptions {
  readonly output: Output;
  readonly chalk: ChalkInstance;
  readonly glyphs: TreeGlyphs;
  readonly clock: Clock;
  /** True to show the pods' Warning events. */
  readonly warnings: boolean;
}

/** Redraws a tree of the pods in place; warnings and logs scroll above it. */
export class LiveTreeRenderer implements SyncRenderer {
  readonly #output: Output;
  readonly #chalk: ChalkInstance;
  readonly #glyphs: TreeGlyphs;
  readonly #clock: Clock;
  readonly #warnings: RepeatedWarnings | undefined;
  readonly #startedAt: number;
  readonly #views = new Map<string, PodView>();
  readonly #names = new Map<string, string>();
  readonly #ended = new AbortController();
  readonly #screen: LiveRegion;

  constructor({output, chalk, glyphs, clock, warnings}: LiveTreeRendererOptions) {
    this.#output = output;
    this.#chalk = chalk;
    this.#glyphs = glyphs;
    this.#clock = clock;
    this.#warnings = warnings ? new RepeatedWarnings(clock) : undefined;
    this.#startedAt = clock.monotonic();
    this.#screen = new LiveRegion(output);
    // Runs until `end`; nothing else can reject its sleep.
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

  #draw(above = '', room = this.#screen.maxLines): void {
    const tree = formatTree([...this.#views.values()], {
      chalk: this.#chalk,
      glyphs: this.#glyphs,
      columns: this.#output.columns ?? 80,
      elapsedMs: this.#elapsedMs,
      nowMs: this.#clock.now(),
    });
    this.#screen.draw(tree.slice(0, room), above);
  }

  get #elapsedMs(): number {
    return this.#clock.monotonic() - this.#startedAt;
  }

  #update(ref: PodRef, change: (view: PodView) => PodView): void {
    this.#views.set(ref.uid, change(this.#views.get(ref.uid) ?? createPodView(ref, this.#elapsedMs)));
    this.#draw();
  }

  callStarted(pod: PodRef, call: Pick<CriCall, 'method' | 'request'>): void {
    this.#update(pod, (view) => applyCallStarted(view, call, callSubject(call, this.#names)));
  }

  callFinished(pod: PodRef, call: CriCall): void {
    const subject = callSubject(call, this.#names);
    if (call.method === 'CreateContainer') this.#names.set(String(call.response?.['containerId']), subject);
    this.#update(pod, (view) => applyCallFinished(view, call, subject));
  }

  event(pod: PodRef, event: PodEvent): void {
    const message = event.type === 'Warning' ? this.#warnings?.next(pod, event) : undefined;
    if (message === undefined) return;
    const container = eventContainer(event);
    const where = container === undefined ? formatPodTitle(pod) : `${formatPodTitle(pod)}/${container}`;
    this.#draw(`${this.#chalk.yellow(`${where}: ${event.reason}:`)} ${escapeControls(message)}\n`);
  }

  status(pod: PodRef, status: PodStatus): void {
    for (const [id, name] of containerNames(status)) this.#names.set(id, name);
    this.#update(pod, (view) => applyPodStatus(view, status));
  }

  note(pod: PodRef, text: string): void {
    this.#draw(`${this.#chalk.bold(formatPodTitle(pod))}: ${escapeControls(text)}\n`);
  }

  result(outcome: ForegroundSyncResult): void {
    this.#update(outcome.pod, (view) => ({...view, activity: '', waitingSinceMs: undefined}));
  }

  log(_pod: PodRef, {container}: LogOrigin, lines: readonly string[]): void {
    const prefix = this.#chalk.dim(`${container} |`);
    this.#draw(lines.map((line) => `${prefix} ${line}\n`).join(''));
  }

  lastOutput(pod: PodRef, container: string, lines: readonly string[]): void {
    const prefix = this.#chalk.dim(`${formatPodTitle(pod)}/${container} |`);
    this.#draw(lines.map((line) => `${prefix} ${escapeControls(line)}\n`).join(''));
  }

  writeAbove(write: () => void): void {
    if (this.#ended.signal.aborted) {
      write();
      return;
    }
    this.#screen.clear();
    write();
    this.#draw();
  }

  end(totals?: SyncTotals): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#draw('', Infinity);
    this.#screen.end();
    if (totals !== undefined) this.#output.write(`${formatTotals(totals)}\n`);
  }
}
