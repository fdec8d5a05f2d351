import {KcriError} from '../../base/errors.js';
import type {CommandServices} from '../command/command-services.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {withUsage, type PodSample, type TopSampler, type TopSelection} from '../pods/top-sampler.js';
import {TopActions} from './actions/top-actions.js';
import {appendLines, replaceLines, type Pager} from './model/pager.js';
import {pressKey} from './model/press-key.js';
import {computeTopGroups, itemTitle, type TopItem} from './model/top-item.js';
import {
  createTopState,
  rearrange,
  type ConfirmedAction,
  type ScreenSize,
  type TopEffect,
  type TopState,
} from './model/top-state.js';
import {UsageHistory} from './model/usage-history.js';
import {NodeMeter} from './node-meter.js';
import type {DisplayHandlers} from './terminal-display.js';
import {suspendProcess} from './suspend-process.js';
import {renderTop} from './view/render-top.js';
import {ASCII_GLYPHS, UNICODE_GLYPHS, type Glyphs, type ScreenLine} from './view/screen-lines.js';

/** Screen that the view is drawn on. */
export interface Display {
  readonly size: ScreenSize;
  readonly isOpen: boolean;
  open(handlers: DisplayHandlers): void;
  close(): void;
  draw(lines: readonly ScreenLine[]): void;
  /** Draws all cells the next time. */
  redraw(): void;
}

/** Options of a TopController. */
export interface TopControllerOptions {
  readonly display: Display;
  readonly sampler: Pick<TopSampler, 'sample'>;
  readonly selection: TopSelection;
  /** True if the runtime runs on this machine. */
  readonly isLocal: boolean;
  /** True if the terminal shows Unicode. */
  readonly unicode: boolean;
  /** Signal that ends the view. */
  readonly signal: AbortSignal;
  readonly quit: () => void;
}

/** Connects the state of the full-screen view with the runtime and the terminal. */
export class TopController {
  readonly #services: CommandServices;
  readonly #options: TopControllerOptions;
  readonly #actions: TopActions;
  readonly #meter: NodeMeter;
  readonly #glyphs: Glyphs;
  readonly #history = new UsageHistory();
  readonly #running = new Set<Promise<void>>();
  readonly #handlers: DisplayHandlers = {
    onKey: (key) => {
      this.pressKey(key);
    },
    onResize: () => {
      this.#resize();
    },
  };
  #state: TopState;
  #shown = new Map<string, ShownPod>();
  #before: PodSample | undefined;
  /** Ends the source of the pager's lines. */
  #source = new AbortController();
  #isDrawing = false;

  constructor(services: CommandServices, options: TopControllerOptions) {
    this.#services = services;
    this.#options = options;
    this.#actions = new TopActions(services);
    this.#meter = new NodeMeter(services.context.clock, options.isLocal);
    this.#glyphs = options.unicode ? UNICODE_GLYPHS : ASCII_GLYPHS;
    this.#state = createTopState(options.display.size, this.#meter.unknown);
  }

  /** Shows a warning in the status line. */
  readonly warn = (text: string): void => {
    this.#update({...this.#state, message: {text, isError: true}});
  };

  /** Opens the display and samples until the signal aborts. Rejects with its reason, and for errors of kcri. */
  async run(): Promise<void> {
    const {display, selection, signal} = this.#options;
    using _suspension = onSuspend(() => {
      this.#suspend();
    });
    display.open(this.#handlers);
    this.#draw();
    for (;;) {
      await this.#sample();
      await this.#services.context.clock.sleep(selection.pauseMs, signal);
    }
  }

  /** Resolves when the actions that were started have ended. Rejects with the error of one that failed. */
  async finished(): Promise<void> {
    this.#source.abort();
    if (this.#running.size > 0) this.#services.report.info('kcri: waiting for the last action to end');
    await Promise.all(this.#running);
  }

  /** Applies a key. */
  pressKey(key: string): void {
    const {state, effect} = pressKey(this.#state, key);
    this.#update(state);
    if (effect !== undefined) this.#perform(effect);
  }

  /** Adapts to the size of the terminal. */
  #resize(): void {
    const {display} = this.#options;
    display.redraw();
    this.#update(rearrange({...this.#state, size: display.size}));
  }

  async #sample(): Promise<void> {
    const {sampler, selection, signal} = this.#options;
    try {
      const [sample, node] = await Promise.all([
        sampler.sample(selection.words, selection.flags),
        this.#meter.measure(),
      ]);
      this.#take(sample, node);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      this.#update({...this.#state, failure: error.plainMessage});
    }
    this.#reload();
  }

  #take(sample: PodSample, node: TopState['node']): void {
    const failure = sample.failure?.plainMessage;
    // Without the runtime only kcri's pods are known: the last complete rows tell more.
    if (failure !== undefined && sample.shown.length < this.#shown.size) {
      this.#update({...this.#state, node, failure});
      return;
    }
    const groups = computeTopGroups(withUsage(this.#before, sample), (key) => this.#history.lastCpu({key}));
    this.#before = sample;
    this.#shown = new Map(sample.shown.map((shown) => [shown.listed.uid, shown]));
    this.#history.record(groups, {cpu: node.cpuPercent, memory: node.memoryBytes});
    // The warning about a failure is out of date when it is over.
    const isOver = this.#state.failure !== undefined && failure === undefined;
    const message = isOver ? undefined : this.#state.message;
    this.#update(rearrange({...this.#state, groups, node, failure, message, sampledMs: sample.nowMs}));
  }

  #update(state: TopState): void {
    this.#state = state;
    this.#draw();
  }

  /** Draws once for all changes of this turn of the event loop. */
  #draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setImmediate(() => {
      this.#isDrawing = false;
      const {display} = this.#options;
      if (!display.isOpen) return;
      const nowMs = this.#services.context.clock.now();
      display.draw(renderTop(this.#state, {nowMs, history: this.#history, glyphs: this.#glyphs}));
    });
  }

  #perform(effect: TopEffect): void {
    switch (effect.kind) {
      case 'quit':
        this.#options.quit();
        return;
      case 'suspend':
        this.#suspend();
        return;
      case 'redraw':
        this.#options.display.redraw();
        return;
      case 'close':
        this.#source.abort();
        return;
      case 'open':
        this.#source = new AbortController();
        if (effect.view === 'logs') this.#followLogs(effect.item);
        else this.#reload();
        return;
      case 'shell':
        this.#run(this.#openShell(effect.item));
        return;
      case 'delete':
      case 'restart':
        this.#run(this.#change(effect.kind, effect.item));
    }
  }

  /** Runs an action in the background; its error is shown in the status line. */
  #run(action: Promise<void>): void {
    const running = action
      .catch((error: unknown) => {
        if (this.#services.signal.aborted) return;
        if (!(error instanceof KcriError)) throw error;
        const hint = error.hint === undefined ? '' : ` (${error.hint})`;
        this.#show(`${error.plainMessage}${hint}`, true);
      })
      .finally(() => {
        this.#running.delete(running);
      });
    this.#running.add(running);
    running.catch((error: unknown) => {
      this.#options.quit();
      this.#services.report.fail(error);
    });
  }

  #show(text: string, isError = false): void {
    this.#update({...this.#state, message: {text, isError}});
  }

  async #change(action: ConfirmedAction, item: TopItem): Promise<void> {
    const target = await this.#actions.target(item, this.#shown.get(item.podUid), this.#containersOf(item));
    const title = itemTitle(item);
    this.#show(action === 'delete' ? `deleting ${title}...` : `restarting ${title}...`);
    if (action === 'delete') await this.#actions.delete(target);
    else await this.#actions.restart(target);
    this.#show(action === 'delete' ? `${title} deleted` : `${title} restarted`);
  }

  async #openShell(item: TopItem): Promise<void> {
    const {display} = this.#options;
    const target = await this.#actions.target(item, this.#shown.get(item.podUid), this.#containersOf(item));
    display.close();
    try {
      await this.#actions.openShell(target);
    } finally {
      if (!this.#options.signal.aborted) {
        display.open(this.#handlers);
        this.#resize();
      }
    }
  }

  /** Returns the container of a row, or all containers of a pod. */
  #containersOf({kind, key, podUid}: TopItem): readonly TopItem[] {
    const group = this.#state.groups.find(({pod}) => pod.podUid === podUid);
    return (group?.containers ?? []).filter((container) => kind === 'pod' || container.key === key);
  }

  #followLogs(item: TopItem): void {
    const {signal} = this.#source;
    const follow = async (): Promise<void> => {
      const target = await this.#actions.target(item, this.#shown.get(item.podUid), this.#containersOf(item));
      await this.#actions.followLogs(target, {
        signal: AbortSignal.any([signal, this.#options.signal]),
        onLines: (lines) => {
          this.#changePager(signal, (pager) => appendLines(pager, lines));
        },
      });
    };
    this.#run(
      follow().catch((error: unknown) => {
        if (signal.aborted || this.#options.signal.aborted) return;
        this.#changePager(signal, (pager) => appendLines(pager, []));
        throw error;
      }),
    );
  }

  /** Reads the description or the events in the pager again. */
  #reload(): void {
    const {screen} = this.#state;
    if (screen.kind !== 'pager' || screen.view === 'logs') return;
    const {view, item} = screen;
    const {signal} = this.#source;
    const read = async (): Promise<void> => {
      const lines = await this.#actions.readText(view, this.#shown.get(item.podUid));
      if (lines !== undefined) this.#changePager(signal, (pager) => replaceLines(pager, lines));
    };
    this.#run(read());
  }

  /** Changes the pager unless it was closed. */
  #changePager(source: AbortSignal, change: (pager: Pager) => Pager): void {
    const {screen} = this.#state;
    if (source.aborted || screen.kind !== 'pager') return;
    this.#update({...this.#state, screen: change(screen)});
  }

  #suspend(): void {
    const {display} = this.#options;
    if (!display.isOpen) return;
    display.close();
    suspendProcess(() => {
      display.open(this.#handlers);
      this.#resize();
    });
  }
}

/** Calls the handler instead of stopping the process on SIGTSTP, until it is disposed. */
function onSuspend(handler: () => void): Disposable {
  process.on('SIGTSTP', handler);
  return {
    [Symbol.dispose]: () => {
      process.off('SIGTSTP', handler);
    },
  };
}
