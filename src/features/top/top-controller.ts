import {anySignal} from '../../base/async/any-signal.js';
import {KcriError, SystemError} from '../../base/errors.js';
import type {
  CommandContext,
  EnvironmentContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {failuresText, type SampledNodes, type TopNodes} from './metrics/top-nodes.js';
import type {ActionTarget} from './actions/change-pod.js';
import type {FollowOptions} from './actions/follow-logs.js';
import {TopActions} from './actions/top-actions.js';
import {appendLines, isFull, replaceLines, type Pager, type PagerView} from './model/pager.js';
import {pressKey} from './model/press-key.js';
import {computeTopGroups, itemPlace, podKeyOf, usageOfPods, type TopItem} from './model/top-item.js';
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
  readonly nodes: TopNodes;
  /** Time between two samples, in ms. */
  readonly pauseMs: number;
  /** True if the terminal shows Unicode. */
  readonly unicode: boolean;
  /** Signal that ends the view. */
  readonly signal: AbortSignal;
  readonly quit: () => void;
}

/** Pause between reads of a log, in ms: the screen is not drawn more often. */
const LOG_PAUSE_MS = 100;

/** A pod with the actions on its node. */
interface ReachablePod {
  readonly shown: ShownPod;
  readonly actions: TopActions;
}

/** Connects the state of the full-screen view with the runtime and the terminal. */
export class TopController {
  readonly #services: EnvironmentContext & ReportContext & SignalContext;
  readonly #options: TopControllerOptions;
  /** Actions by the services with connections to a node. */
  readonly #actions = new WeakMap<CommandContext, TopActions>();
  /** Meter of this machine; undefined if other nodes are shown. */
  readonly #meter: NodeMeter | undefined;
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
  #shown: ReadonlyMap<string, ReachablePod> = new Map();
  /** Signal of the pager whose text is being read. */
  #reading: AbortSignal | undefined;
  /** Ends the source of the pager's lines. */
  #source = new AbortController();
  #isDrawing = false;

  constructor(services: EnvironmentContext & ReportContext & SignalContext, options: TopControllerOptions) {
    this.#services = services;
    this.#options = options;
    const {areSeveral, remoteName} = options.nodes;
    this.#meter = areSeveral || remoteName !== undefined ? undefined : new NodeMeter(services.context.clock);
    this.#glyphs = options.unicode ? UNICODE_GLYPHS : ASCII_GLYPHS;
    this.#state = createTopState(
      options.display.size,
      this.#meter?.unknown ?? usageOfPods([], options.nodes.titleOf([])),
    );
  }

  /** Shows a warning in the status line. */
  readonly warn = (text: string): void => {
    this.#update({...this.#state, message: {text, isError: true}});
  };

  /** Opens the display and samples until the signal aborts. Rejects with its reason, and for errors of kcri. */
  async run(): Promise<void> {
    const {display, pauseMs, signal} = this.#options;
    using _suspension = onSuspend(() => {
      this.#suspend();
    });
    display.open(this.#handlers);
    this.#draw();
    for (;;) {
      await this.#sample();
      await this.#services.context.clock.sleep(pauseMs, signal);
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
    const {nodes, signal} = this.#options;
    try {
      const node = this.#meter?.measure();
      const sampled = await nodes.sample({isPatient: false});
      this.#take(sampled, node);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      this.#update({...this.#state, failure: error.plainMessage});
    }
    this.#reload();
  }

  #take({samples, failures, nowMs}: SampledNodes, measured: TopState['node'] | undefined): void {
    const failure = failuresText(failures);
    const groups = computeTopGroups(samples, (key) => this.#history.lastCpu({key}));
    const node = measured ?? usageOfPods(groups, this.#options.nodes.titleOf(samples));
    this.#shown = new Map(
      samples.flatMap(({node: name, services, shown}) => {
        const actions = this.#actionsOf(services);
        return shown.map((each) => [podKeyOf(name, each.listed.uid), {shown: each, actions}]);
      }),
    );
    this.#history.record(groups, {cpu: node.cpuPercent, memory: node.memoryBytes});
    // The warning about a failure is out of date when it is over.
    const isOver = this.#state.failure !== undefined && failure === undefined;
    const message = isOver ? undefined : this.#state.message;
    const sampledMs = samples.length === 0 ? this.#state.sampledMs : nowMs;
    this.#update(rearrange({...this.#state, groups, node, failure, message, sampledMs}));
  }

  #actionsOf(services: CommandContext): TopActions {
    const actions = this.#actions.get(services) ?? new TopActions(services);
    this.#actions.set(services, actions);
    return actions;
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
        if (isFollowed(effect.view, effect.item)) this.#follow(effect.view, effect.item);
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
    const {actions, target} = await this.#reach(item);
    const place = itemPlace(item);
    this.#show(action === 'delete' ? `deleting ${place}...` : `restarting ${place}...`);
    if (action === 'delete') await actions.delete(target);
    else await actions.restart(target);
    this.#show(action === 'delete' ? `${place} deleted` : `${place} restarted`);
  }

  async #openShell(item: TopItem): Promise<void> {
    const {display} = this.#options;
    const {actions, target} = await this.#reach(item);
    display.close();
    try {
      await actions.openShell(target);
    } finally {
      if (!this.#options.signal.aborted) {
        display.open(this.#handlers);
        this.#resize();
      }
    }
  }

  /** Returns the actions on the node of a row, and what they need about it. Rejects with KcriError. */
  async #reach(item: TopItem): Promise<{readonly actions: TopActions; readonly target: ActionTarget}> {
    const pod = this.#shown.get(item.podKey);
    if (pod === undefined) throw new SystemError(`${itemPlace(item)} does not exist any more`);
    const target = await pod.actions.target(item, pod.shown, this.#containersOf(item));
    return {actions: pod.actions, target};
  }

  /** Returns the container of a row, or all containers of a pod. */
  #containersOf({kind, key, podKey}: TopItem): readonly TopItem[] {
    const group = this.#state.groups.find(({pod}) => pod.podKey === podKey);
    return (group?.containers ?? []).filter((container) => kind === 'pod' || container.key === key);
  }

  /** Shows the lines of a log or of events in the pager until it is closed. */
  #follow(view: PagerView, item: TopItem): void {
    const {signal} = this.#source;
    const follow = async (): Promise<void> => {
      using either = anySignal(signal, this.#options.signal);
      const options: FollowOptions = {
        signal: either.signal,
        onLines: (lines) => {
          this.#changePager(signal, (pager) => appendLines(pager, lines));
        },
        ready: async () => {
          do await this.#services.context.clock.sleep(LOG_PAUSE_MS, either.signal);
          while (this.#state.screen.kind === 'pager' && isFull(this.#state.screen));
        },
      };
      const {actions, target} = await this.#reach(item);
      if (view === 'logs') await actions.followLogs(target, options);
      else await actions.followEvents(target, options);
    };
    this.#run(
      follow().catch((error: unknown) => {
        if (signal.aborted || this.#options.signal.aborted) return;
        this.#changePager(signal, (pager) => appendLines(pager, []));
        throw error;
      }),
    );
  }

  /** Reads the text of the pager again, unless it is followed or is being read. */
  #reload(): void {
    const {screen} = this.#state;
    if (screen.kind !== 'pager' || isFollowed(screen.view, screen.item)) return;
    const {view, item} = screen;
    const {signal} = this.#source;
    if (this.#reading === signal) return;
    const read = async (): Promise<void> => {
      const pod = this.#shown.get(item.podKey);
      const lines = await pod?.actions.readText(view, item, pod.shown);
      if (lines !== undefined) this.#changePager(signal, (pager) => replaceLines(pager, lines));
    };
    this.#reading = signal;
    this.#run(
      read().finally(() => {
        if (this.#reading === signal) this.#reading = undefined;
      }),
    );
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

/** Reports whether lines of a text arrive while it is shown, rather than being read again with each sample. */
function isFollowed(view: PagerView, {manager}: TopItem): boolean {
  // kcri records the events of its own pods.
  return view === 'logs' || (view === 'events' && manager !== 'kcri');
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
