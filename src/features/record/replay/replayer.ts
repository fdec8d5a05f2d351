import type {Clock} from '../../../base/clock.js';
import {ConfigError} from '../../../base/errors.js';
import type {Connection} from '../../../cri/index.js';
import type {Json, JsonObject} from '../../../format/json.js';
import {isRead} from '../../../recording/canonical/canonical-calls.js';
import type {RunDifference} from '../../../recording/canonical/compare-runs.js';
import {stringAt} from '../../../base/string-at.js';
import {exitedIn, type OwnExits} from '../../../recording/replay/own-exits.js';
import {mayPass, type AnswerComparison} from '../../../recording/replay/compare-answers.js';
import {ReadDeadlines} from '../../../recording/replay/read-deadlines.js';
import {
  createdIds,
  referencesOf,
  type RecordedCall,
  type SkippedCall,
} from '../../../recording/replay/recorded-calls.js';
import {callEvents} from '../../../recording/replay/replay-order.js';
import {methodOf} from '../../../recording/tap/method-table.js';
import {replayRequest, type ReplayValues} from '../../../recording/replay/replay-request.js';
import {callRuntime} from './call-runtime.js';

/** Order in time of a replay: as fast as the recorded order allows, or with the recorded pauses. */
export type ReplayPace = 'fast' | 'original';

/** Options of a Replayer. */
export interface ReplayerOptions {
  readonly connection: Pick<Connection, 'runtime' | 'images'>;
  readonly calls: readonly RecordedCall[];
  readonly replay: ReplayValues;
  readonly compare: AnswerComparison;
  /** Containers that have ended by themselves, for `compare`. */
  readonly exits: OwnExits;
  /** Reports whether the replay has pulled an image. */
  readonly isOwnImage: (image: string) => Promise<boolean>;
  /** Masks an answer like the recorder did. */
  readonly mask: (method: string, response: JsonObject) => JsonObject;
  readonly pace: ReplayPace;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A call that was answered differently. */
export interface CallDifference extends RunDifference {
  /** Number of the call in the recording. */
  readonly call: number;
}

/** Pause between two attempts of a read, in ms. */
const SETTLE_PAUSE_MS = 100;
/** Calls that make something which has to be removed: an interruption waits for them. */
const MAKERS: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer']);
/** Calls that start something. */
const STARTS: ReadonlySet<string> = new Set([...MAKERS, 'StartContainer']);

/** Makes recorded calls on another runtime, in the recorded order and concurrency. */
export class Replayer {
  readonly #options: ReplayerOptions;
  readonly #running = new Map<RecordedCall, Promise<void>>();
  readonly #makers: ReadonlyMap<string, RecordedCall>;
  /** Differences of reads that did not go away; they are not waited for again. */
  readonly #settled = new Set<string>();
  readonly #deadlines = new ReadDeadlines();
  #startedAt = 0;
  readonly differences: CallDifference[] = [];
  readonly skipped: SkippedCall[] = [];
  /** Number of calls that were made. */
  replayed = 0;
  /** Number of calls that were made or skipped, and have ended. */
  ended = 0;

  constructor(options: ReplayerOptions) {
    this.#options = options;
    this.#makers = new Map(
      options.calls.flatMap((call) => createdIds(call.response).map((id) => [id, call])),
    );
  }

  /** Makes all calls. Rejects with CriError if nothing answers, with the signal's reason if it aborts; then nothing runs. */
  async run(): Promise<void> {
    const {calls, clock, pace, signal} = this.#options;
    this.#startedAt = clock.monotonic();
    let dueMs = 0;
    let lastMs = 0;
    try {
      for (const {kind, call, atMs} of callEvents(calls)) {
        signal.throwIfAborted();
        dueMs = Math.max(this.#elapsedMs, dueMs + atMs - lastMs);
        lastMs = atMs;
        if (kind === 'end') await this.#running.get(call);
        else {
          const pauseMs = pace === 'original' ? dueMs - this.#elapsedMs : 0;
          if (pauseMs > 0) await clock.sleep(pauseMs, signal);
          this.#start(call, atMs);
        }
      }
    } finally {
      await Promise.allSettled(this.#running.values());
    }
    this.differences.sort((a, b) => a.call - b.call);
  }

  get #elapsedMs(): number {
    return this.#options.clock.monotonic() - this.#startedAt;
  }

  #start(call: RecordedCall, atMs: number): void {
    const running = this.#replay(call, atMs).then(() => {
      this.ended += 1;
    });
    running.catch(() => undefined); // `run` awaits it at the call's recorded end
    this.#running.set(call, running);
  }

  async #replay(call: RecordedCall, atMs: number): Promise<void> {
    const {replay, isOwnImage} = this.#options;
    await this.#madeBefore(call);
    const missing = referencesOf(call.request).find((id) => replay.values.idOf(id) === undefined);
    if (missing !== undefined) {
      this.#skip(call, 'its pod or container could not be created');
      return;
    }
    if (call.method.rpc === 'PullImage' && call.request['auth'] !== undefined) {
      this.#skip(call, 'its credentials are masked', false);
      return;
    }
    const image = stringAt(replayRequest(call.request, replay), 'image', 'image') ?? '';
    if (call.method.rpc === 'RemoveImage' && !(await isOwnImage(image))) {
      this.#skip(call, 'the image was on the runtime before the replay', false);
      return;
    }
    try {
      await this.#make(call, atMs);
      this.replayed += 1;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#skip(call, `its request is damaged: ${error.message}`);
    }
  }

  #skip({number, method: {rpc}}: RecordedCall, reason: string, matters = !isRead(rpc)): void {
    this.skipped.push({number, method: rpc, reason, matters});
  }

  /** Waits for the calls that make what this one refers to. */
  async #madeBefore(call: RecordedCall): Promise<void> {
    for (const id of referencesOf(call.request))
      for (const maker of this.#makersOf(id)) if (maker !== call) await this.#running.get(maker);
  }

  /** Returns the calls that made an object, whose ID may be shortened. */
  #makersOf(id: string): readonly RecordedCall[] {
    const maker = this.#makers.get(id);
    if (maker !== undefined) return [maker];
    return [...this.#makers].filter(([made]) => made.startsWith(id)).map(([, each]) => each);
  }

  async #make(call: RecordedCall, atMs: number): Promise<void> {
    const {clock} = this.#options;
    const {rpc} = call.method;
    const startMs = this.#elapsedMs;
    const endsAtMs = this.#deadlines.deadline(atMs, startMs);
    for (;;) {
      const difference = await this.#attempt(call);
      if (!isRead(rpc)) this.#measure(call, atMs, startMs);
      if (difference === undefined) return;
      const key = JSON.stringify([rpc, difference.object, difference.fields.map(({path, b}) => [path, b])]);
      if (isRead(rpc) && mayPass(difference) && !this.#settled.has(key) && this.#elapsedMs < endsAtMs) {
        await clock.sleep(SETTLE_PAUSE_MS, this.#options.signal);
        continue;
      }
      this.#settled.add(key);
      this.differences.push({...difference, call: call.number});
      return;
    }
  }

  /** Lets later reads have the time that a call which changes something has taken. */
  #measure({startMs, endMs, method: {rpc}}: RecordedCall, atMs: number, replayedAtMs: number): void {
    const recorded = {startMs: atMs, endMs: atMs + endMs - startMs};
    this.#deadlines.add(recorded, {startMs: replayedAtMs, endMs: this.#elapsedMs}, STARTS.has(rpc));
  }

  async #attempt(call: RecordedCall): Promise<RunDifference | undefined> {
    const {connection, replay, compare, mask, signal} = this.#options;
    const {rpc} = call.method;
    this.#notice(call);
    const answer = await callRuntime(connection, call.method, replayRequest(call.request, replay), {
      ...(call.isCanceled
        ? {timeoutMs: Math.max(1, call.endMs - call.startMs)}
        : call.timeoutMs !== undefined && {timeoutMs: call.timeoutMs}),
      ...(!MAKERS.has(rpc) && {signal}),
    });
    this.#learn(call, answer.response);
    const own = answer.response && this.#withoutOthers(answer.response);
    const response = own && (this.#toRecorded(mask(rpc, own)) as JsonObject);
    const mapped = {...answer, error: this.#toRecorded(answer.error) as string, response};
    const difference = compare(call, mapped);
    const hasLearned = difference !== undefined && (await this.#learnExits(response));
    return hasLearned ? compare(call, mapped) : difference;
  }

  /** Remembers containers, and what is about to be stopped. */
  #notice({method: {rpc}, request, response}: RecordedCall): void {
    const {exits, clock} = this.#options;
    const [sandbox, container] = [
      stringAt(request, 'podSandboxId') ?? '',
      stringAt(request, 'containerId') ?? '',
    ];
    if (rpc === 'CreateContainer') exits.created(stringAt(response, 'containerId') ?? '', sandbox);
    if (/^(Stop|Remove)(Pod|Container)/.test(rpc)) exits.stopping(container || sandbox, clock.now());
  }

  /** Learns how the containers of a list have ended that have exited. Returns true if it has learned something. */
  async #learnExits(response: JsonObject | undefined): Promise<boolean> {
    const {connection, exits, replay, signal} = this.#options;
    const {info} = methodOf('/runtime.v1.RuntimeService/ContainerStatus');
    const ids = exitedIn(response).filter((id) => !exits.has(id));
    for (const id of ids) {
      const containerId = replay.values.idOf(id);
      if (containerId === undefined || info === undefined) continue;
      const status = await callRuntime(connection, info, {containerId}, {signal});
      exits.learn(id, status.response?.['status']);
    }
    return ids.length > 0;
  }

  /** Remembers which IDs, addresses and images of the runtime stand for recorded ones. */
  #learn({method: {rpc}, request, response: recorded}: RecordedCall, actual: JsonObject | undefined): void {
    const {values} = this.#options.replay;
    const learn = (...path: readonly string[]): void => {
      const [from, to] = [stringAt(recorded, ...path), stringAt(actual, ...path)];
      if (from !== undefined && to !== undefined && from !== '' && to !== '') values.set(from, to);
    };
    if (rpc === 'ContainerStatus')
      this.#options.exits.learn(stringAt(request, 'containerId') ?? '', actual?.['status']);
    if (rpc === 'RunPodSandbox') learn('podSandboxId');
    if (rpc === 'CreateContainer') learn('containerId');
    if (rpc === 'PodSandboxStatus') learn('status', 'network', 'ip');
    if (rpc === 'PullImage') learn('imageRef');
    if (rpc === 'ImageStatus') learn('image', 'id');
  }

  /** Removes the objects that the replay has not made from a list: the recorded ones may still be on this runtime. */
  #withoutOthers(response: JsonObject): JsonObject {
    const {values} = this.#options.replay;
    const lists = Object.entries(response).flatMap(([name, member]): readonly [string, Json][] => {
      if ((name !== 'containers' && name !== 'items') || !Array.isArray(member)) return [[name, member]];
      const own = (member as readonly Json[]).filter((item) => values.isActual(stringAt(item, 'id') ?? ''));
      // As in a recorded answer without objects.
      return own.length === 0 ? [] : [[name, own]];
    });
    return Object.fromEntries(lists);
  }

  #toRecorded(value: unknown): unknown {
    const {values, paths} = this.#options.replay;
    if (typeof value === 'string') return values.toRecorded(paths.toRecorded(value));
    if (Array.isArray(value)) return value.map((item) => this.#toRecorded(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.#toRecorded(member)]),
    );
  }
}
