import type {Clock} from '../../../src/base/clock.js';
import type {GrpcCode} from '../../../src/cri/errors.js';
import {GrpcStatusError} from './grpc-status-error.js';
import type {ProtoJson, Rpc} from './cri-messages.js';

/** Which calls a fault hits. */
export interface FaultScope {
  /** How many calls it hits; every one unless given. */
  readonly times?: number;
  /** How many matching calls pass unharmed first. */
  readonly skip?: number;
  /** Only requests (in the recording's form) for which this is true. */
  readonly match?: (request: ProtoJson) => boolean;
  /** The call takes effect first, and only its answer is lost or late. */
  readonly afterEffect?: boolean;
}

export interface InjectedError extends FaultScope {
  readonly code: GrpcCode;
  readonly message: string;
}

type Effect =
  | {readonly kind: 'error'; readonly refusal: GrpcStatusError}
  | {readonly kind: 'delay'; readonly ms: number}
  | {readonly kind: 'crash'};

interface Fault {
  readonly rpc: Rpc;
  readonly scope: FaultScope;
  readonly effect: Effect;
  seen: number;
}

/** Faults that a test has put in, per RPC; they act in the order in which they were put in. */
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

  /** Lets the faults of this moment happen; throws Refusal when one of them is an error or a crash. */
  async applyFaults(
    rpc: string,
    request: ProtoJson,
    when: 'before' | 'after',
    signal: AbortSignal,
  ): Promise<void> {
    for (const fault of this.#faults) {
      if (fault.rpc !== rpc || (fault.scope.afterEffect === true) !== (when === 'after')) continue;
      if (hits(fault, request)) await this.#act(fault.effect, signal);
    }
  }

  async #act(effect: Effect, signal: AbortSignal): Promise<void> {
    switch (effect.kind) {
      case 'error':
        throw effect.refusal;
      case 'delay':
        await this.#clock.sleep(effect.ms, signal);
        return;
      case 'crash':
        await this.#crash();
        throw new GrpcStatusError('UNAVAILABLE', 'the fake runtime has crashed');
      default:
        effect satisfies never;
    }
  }
}

function hits(fault: Fault, request: ProtoJson): boolean {
  const {match, skip = 0, times = Infinity} = fault.scope;
  if (match !== undefined && !match(request)) return false;
  fault.seen += 1;
  return fault.seen > skip && fault.seen <= skip + times;
}
