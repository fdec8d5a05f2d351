import type {CriCall} from '../container/cri-calls.js';
import {explainCall, type PlannedReason, type PlanStep} from './explain.js';

/** One call that a sync would make. */
export interface PlannedCall extends Pick<CriCall, 'method' | 'requestType' | 'request'> {
  /** The container that it is about. */
  readonly container: string | undefined;
  readonly why: PlannedReason;
}

/** Takes down the calls of a plan, each with the reason that the present step gives for it. */
export class CallRecorder {
  readonly calls: PlannedCall[] = [];
  readonly #names = new Map<string, string>();
  step: PlanStep = {kind: 'ending', changed: []};

  /** What containers are called that are there already. */
  know(containers: readonly {readonly id: string; readonly name: string}[]): void {
    for (const {id, name} of containers) this.#names.set(id, name);
  }

  /** To be told of each call twice, as CallListener is: by its answer a planned container is known later. */
  readonly take = (call: Pick<CriCall, 'method' | 'requestType' | 'request'>, ended?: CriCall): void => {
    const container = this.#containerOf(call);
    if (ended === undefined)
      this.calls.push({...call, container, why: explainCall(call, this.step, container)});
    else if (call.method === 'CreateContainer' && container !== undefined)
      this.#names.set(String(ended.response?.['containerId']), container);
  };

  #containerOf({method, request}: Pick<CriCall, 'method' | 'request'>): string | undefined {
    if (method !== 'CreateContainer') return this.#names.get(String(request['containerId']));
    const {metadata} = request['config'] as {readonly metadata?: {readonly name?: string}};
    return metadata?.name;
  }
}
