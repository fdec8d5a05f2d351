import type {Clock} from '../../../src/base/clock.js';
import type {GrpcCode} from '../../../src/cri/errors.js';
import {GrpcStatusError} from './grpc-status-error.js';
import type {ProtoJson, Rpc} from './cri-messages.js';

/** Selects the calls that a fault affects. */
export interface FaultScope {
  /** Number of affected calls, by default all. */
  readonly times?: number;
  /** Number of matching calls that are not affected before. */
  readonly skip?: number;
  /** Selects requests, in the format of the recordings. */
  readonly match?: (request: ProtoJson) => boolean;
  /** True if the call has its effect before the response is lost or delayed. */
  readonly afterEffect?: boolean;
}

export interface InjectedError extends FaultScope {
  readonly code: GrpcCode;
  readonly message: string;
}

type Effect =
  | {readonly kind: 'error'; readonly error: GrpcStatusError}
  | {readonly kind: 'delay'; readonly ms: number}
  | {readonly kind: 'response'; readonly bytes: Buffer}
  | {readonly kind: 'action'; readonly act: () => void | Promise<void>}
  | {readonly kind: 'duplicate'}
  | {readonly kind: 'crash'};

/** An effect before or after the handler, which it does not replace. */
type ImmediateEffect = Exclude<Effect, {kind: 'response' | 'duplicate'}>;

const isImmediate = (effect: Effect): effect is ImmediateEffect =>
  effect.kind !== 'response' && effect.kind !== 'duplicate';

interface Fault {
  readonly rpc: Rpc;
  readonly scope: FaultScope;
  readonly effect: Effect;
  seen: number;
}

/** Faults injected by a test, by RPC, applied in the order of their injection. */
export class FaultInjector {
  readonly #clock: Clock;
  readonly #crash: () => Promise<void>;
  #faults: Fault[] = [];

  constructor(clock: Clock, crash: () => Promise<void>) {
    this.#clock = clock;
    this.#crash = crash;
  }

  add(rpc: Rpc, effect: Effect, scope: FaultScope): void {
    this.#faults.push({rpc, effect, scope, seen: 0});
  }

  clear(): void {
    this.#faults = [];
  }

  /** Applies the faults for this stage of a call. Throws GrpcStatusError for an error or a crash. */
  async applyFaults(
    rpc: string,
    request: ProtoJson,
    when: 'before' | 'after',
    signal: AbortSignal,
  ): Promise<void> {
    for (const fault of this.#faults) {
      if (fault.rpc !== rpc || (fault.scope.afterEffect === true) !== (when === 'after')) continue;
      if (isImmediate(fault.effect) && affects(fault, request)) await this.#act(fault.effect, signal);
    }
  }

  /** Returns the response that replaces the handler's, with or without the effect of the call. */
  replacedResponse(
    rpc: string,
    request: ProtoJson,
  ): {readonly bytes: Buffer; readonly afterEffect: boolean} | undefined {
    for (const fault of this.#faults) {
      const {effect, scope} = fault;
      if (fault.rpc === rpc && effect.kind === 'response' && affects(fault, request))
        return {bytes: effect.bytes, afterEffect: scope.afterEffect === true};
    }
    return undefined;
  }

  /** Returns whether the call is delivered twice. */
  isDuplicated(rpc: string, request: ProtoJson): boolean {
    return this.#faults.some(
      (fault) => fault.rpc === rpc && fault.effect.kind === 'duplicate' && affects(fault, request),
    );
  }

  async #act(effect: ImmediateEffect, signal: AbortSignal): Promise<void> {
    switch (effect.kind) {
      case 'error':
        throw effect.error;
      case 'delay':
        await this.#clock.sleep(effect.ms, signal);
        return;
      case 'action':
        await effect.act();
        return;
      case 'crash':
        await this.#crash();
        throw new GrpcStatusError('UNAVAILABLE', 'the fake runtime has crashed');
      default:
        effect satisfies never;
    }
  }
}

function affects(fault: Fault, request: ProtoJson): boolean {
  const {match, skip = 0, times = Infinity} = fault.scope;
  if (match !== undefined && !match(request)) return false;
  fault.seen += 1;
  return fault.seen > skip && fault.seen <= skip + times;
}
