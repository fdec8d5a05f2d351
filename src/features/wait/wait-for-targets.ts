import type {RuntimeService} from '../../cri/index.js';
import type {LogTime} from '../../operations/logs/log-selection.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {podJson} from '../pods/pod-text.js';
import {logFilesOf} from '../logs/log-files-of.js';
import type {ListedPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {targetTitle, type LifecycleTarget} from '../targets/find-targets.js';
import {
  judgeContainerCondition,
  judgePodCondition,
  podState,
  type Judgement,
  type SeenPod,
} from './judge-readiness.js';
import {LogWatch} from './log-watch.js';
import {formatWaitCondition, type WaitCondition} from './wait-condition.js';
import {
  repeatRounds,
  timedOutText,
  WaitFailedError,
  WaitTimeoutError,
  type RoundWake,
} from './wait-rounds.js';
import {ExitWatch, isDeleted, whyReplaced} from './wait-target.js';

/** Options of waitForTargets. */
export interface WaitOptions {
  readonly condition: WaitCondition;
  /** Time limit in ms; 0 to check once, undefined for none. */
  readonly timeoutMs: number | undefined;
  /** Time of the first line of logs. */
  readonly since: LogTime | undefined;
  /** Called when a target meets the condition. */
  readonly onMet: (result: WaitResult) => void;
}

/** A target that meets the condition. */
export interface WaitResult {
  readonly target: LifecycleTarget;
  /** Exit codes of its containers, with the condition `exit`. */
  readonly exitCodes?: readonly number[];
  /** Line that matched, with the condition `log`. */
  readonly line?: string;
}

interface Pending {
  readonly target: LifecycleTarget;
  readonly exits: ExitWatch;
  readonly logs: LogWatch | undefined;
  state: string;
}

/**
 * Waits until all targets meet the condition. Reports targets that do not meet it in time, or never will, and continues
 * with the others. Rejects with the signal's reason.
 */
export async function waitForTargets(
  services: ConnectionContext & EnvironmentContext & ReportContext & SignalContext,
  reader: PodReader,
  targets: readonly LifecycleTarget[],
  options: WaitOptions,
): Promise<void> {
  let rounds: WaitRounds | undefined;
  await repeatRounds(services, options.timeoutMs, async (wake) => {
    const started = new WaitRounds(services, reader, options, wake);
    await started.start(targets);
    rounds = started;
    return async () => {
      await started.run();
      return started.pending.length === 0;
    };
  });
  for (const pending of rounds?.pending ?? []) services.report.fail(timeoutError(pending, options));
}

function timeoutError({target, state}: Pending, {condition, timeoutMs}: WaitOptions): WaitTimeoutError {
  return new WaitTimeoutError(
    `${timedOutText(timeoutMs)} ${formatWaitCondition(condition)} of ${describeTarget(target)}: ${state}`,
  );
}

function describeTarget(target: LifecycleTarget): string {
  return `${target.kind} "${targetTitle(target)}"`;
}

/** Compares the targets with the condition, again and again. */
class WaitRounds {
  readonly #services: ConnectionContext & EnvironmentContext & ReportContext;
  readonly #reader: PodReader;
  readonly #options: WaitOptions;
  readonly #wake: RoundWake;
  readonly #runtimes = new Map<string, RuntimeService>();
  #pending: readonly Pending[] = [];

  constructor(
    services: ConnectionContext & EnvironmentContext & ReportContext,
    reader: PodReader,
    options: WaitOptions,
    wake: RoundWake,
  ) {
    this.#services = services;
    this.#reader = reader;
    this.#options = options;
    this.#wake = wake;
  }

  /** Targets that do not meet the condition yet. */
  get pending(): readonly Pending[] {
    return this.#pending;
  }

  async start(targets: readonly LifecycleTarget[]): Promise<void> {
    const {condition, since} = this.#options;
    const {sleep, signal} = this.#wake;
    const {clock} = this.#services.context;
    const files = await logFilesOf(this.#services);
    const onChange = (): void => {
      sleep.wake();
    };
    this.#pending = targets.map((target) => ({
      target,
      exits: new ExitWatch(target),
      logs:
        condition.kind === 'log'
          ? new LogWatch(target, {pattern: condition.pattern, since, clock, files, onChange, signal})
          : undefined,
      state: '',
    }));
  }

  /** Reads the pods once, and removes targets that meet the condition or never will. */
  async run(): Promise<void> {
    const seen = await this.#observe();
    const rest: Pending[] = [];
    for (const pending of this.#pending) {
      const {target} = pending;
      const judgement = await this.#judge(pending, seen.get(target.listed.uid));
      if (judgement.kind === 'met') this.#options.onMet(this.#result(pending, seen.get(target.listed.uid)));
      else if (judgement.kind === 'failed')
        this.#services.report.fail(this.#failure(pending, judgement.reason));
      else rest.push(Object.assign(pending, {state: judgement.state}));
    }
    this.#pending = rest;
  }

  #failure({target}: Pending, reason: string): WaitFailedError {
    const {condition} = this.#options;
    return new WaitFailedError(
      `${describeTarget(target)} cannot reach ${formatWaitCondition(condition)}: ${reason}`,
    );
  }

  #result({target, exits, logs}: Pending, seen: SeenPod | 'unknown' | undefined): WaitResult {
    const {kind} = this.#options.condition;
    if (kind === 'exit' && typeof seen === 'object') return {target, exitCodes: exits.codes(seen)};
    return logs?.line === undefined ? {target} : {target, line: logs.line};
  }

  /** Returns the pods of the pending targets by UID; `unknown` while their runtime does not answer. */
  async #observe(): Promise<ReadonlyMap<string, SeenPod | 'unknown'>> {
    const all = await this.#reader.select([], {}, () => undefined);
    const uids = new Set<string>(this.#pending.map(({target}) => target.listed.uid));
    const listed = all.filter(({uid}) => uids.has(uid));
    const nowMs = this.#services.context.clock.now();
    const shown = await this.#reader.observe(listed);
    const seen = new Map<string, SeenPod | 'unknown'>(
      shown.map((each) => [each.listed.uid, {listed: each.listed, pod: each.pod, nowMs}]),
    );
    const isDown = this.#reader.runtimeFailure !== undefined;
    for (const uid of isDown ? uids : listed.map((each) => each.uid))
      if (!seen.has(uid)) seen.set(uid, 'unknown');
    return seen;
  }

  async #judge(pending: Pending, seen: SeenPod | 'unknown' | undefined): Promise<Judgement> {
    const {condition} = this.#options;
    if (seen === 'unknown') {
      const {plainMessage = 'its status cannot be read'} = this.#reader.runtimeFailure ?? {};
      return {kind: 'pending', state: plainMessage};
    }
    if (condition.kind === 'delete')
      return isDeleted(pending.target, seen) ? {kind: 'met'} : {kind: 'pending', state: stateOf(seen)};
    if (seen === undefined) return {kind: 'failed', reason: 'it was deleted'};
    if (condition.kind === 'create') return {kind: 'met'};
    if (condition.kind === 'exit')
      return await pending.exits.judge(seen, await this.#runtimeOf(seen.listed), this.#wake.signal);
    if (condition.kind === 'log' && pending.logs !== undefined)
      return pending.logs.judge(seen, await this.#runtimeOf(seen.listed));
    return judgeState(pending.target, seen, condition);
  }

  async #runtimeOf({record}: ListedPod): Promise<RuntimeService> {
    const {connections} = this.#services;
    if (record === undefined) return (await connections.default()).runtime;
    const known = this.#runtimes.get(record.endpoint);
    const runtime = known ?? (await connections.open(record.endpoint)).runtime;
    this.#runtimes.set(record.endpoint, runtime);
    return runtime;
  }
}

function stateOf(seen: SeenPod | undefined): string {
  return seen === undefined ? '' : podState(seen.pod, seen.nowMs);
}

function judgeState(target: LifecycleTarget, seen: SeenPod, condition: WaitCondition): Judgement {
  if (condition.kind === 'jsonpath') {
    const text = condition.read(podJson(seen.pod));
    const isMet = condition.value === undefined ? (text ?? '') !== '' : text === condition.value;
    return isMet ? {kind: 'met'} : {kind: 'pending', state: text === undefined ? 'not set' : `"${text}"`};
  }
  if (condition.kind !== 'condition') return {kind: 'pending', state: stateOf(seen)};
  if (target.kind === 'pod') return judgePodCondition(seen, condition);
  const replaced = whyReplaced(target, seen);
  return replaced === undefined
    ? judgeContainerCondition(seen, target.name, condition)
    : {kind: 'failed', reason: replaced};
}
