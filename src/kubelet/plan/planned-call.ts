import type {CriCall} from '../contract/observe-cri-calls.js';
import {explainCall, type PlannedReason, type PlanStep} from './explain-call.js';

/** Call that a sync would make. */
export interface PlannedCall extends Pick<CriCall, 'method' | 'requestType' | 'request'> {
  /** Name of the container that the call concerns. */
  readonly container: string | undefined;
  readonly why: PlannedReason;
}

/** Records the calls of a plan, each with its reason in the current step. */
export class CallRecorder {
  readonly calls: PlannedCall[] = [];
  readonly #names = new Map<string, string>();
  step: PlanStep = {kind: 'termination', text: ''};
  /** Returns what the managers of the node tell about a container. */
  explain: (container: string) => readonly string[] = () => [];

  /** Adds the names of existing containers. */
  addContainers(containers: readonly {readonly id: string; readonly name: string}[]): void {
    for (const {id, name} of containers) this.#names.set(id, name);
  }

  /**
   * Records a call. As a CallListener, it is called at the start and at the end of each call; the response to
   * CreateContainer identifies the planned container.
   */
  readonly onCall = (call: Pick<CriCall, 'method' | 'requestType' | 'request'>, ended?: CriCall): void => {
    const container = this.#containerOf(call);
    if (ended === undefined) this.calls.push({...call, container, why: this.#explain(call, container)});
    else if (call.method === 'CreateContainer' && container !== undefined)
      this.#names.set(String(ended.response?.['containerId']), container);
  };

  #explain(call: Pick<CriCall, 'method' | 'request'>, container: string | undefined): PlannedReason {
    const why = explainCall(call, this.step, container);
    if (call.method !== 'CreateContainer' || container === undefined) return why;
    return {...why, text: [why.text, ...this.explain(container)].join('; ')};
  }

  #containerOf({method, request}: Pick<CriCall, 'method' | 'request'>): string | undefined {
    if (method !== 'CreateContainer') return this.#names.get(String(request['containerId']));
    const {metadata} = request['config'] as {readonly metadata?: {readonly name?: string}};
    return metadata?.name;
  }
}
